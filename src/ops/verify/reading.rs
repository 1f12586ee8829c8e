//! Reading of a cluster what a judgement needs, as little as that is.

use std::collections::BTreeSet;

use super::place::require_namespace;
use crate::cluster::{ClusterError, ClusterReader, KindName};
use crate::error::Error;
use crate::rollout::{Finding, KINDS, Snapshot, Wanted};

/// What is read of every namespace beside what is judged; without pods and sets nothing can be said.
const NEEDED: [(&str, &str); 2] = [("", "Pod"), ("apps", "ReplicaSet")];
/// What helps to explain: a right that is missing here is a note.
const HELPFUL: [(&str, &str); 3] =
    [("", "Event"), ("", "PersistentVolumeClaim"), ("apps", "ControllerRevision")];

/// What was read, and what could not be.
pub(super) struct Reading<'a> {
    reader: &'a dyn ClusterReader,
    /// The objects.
    pub(super) snapshot: Snapshot,
    /// A finding for each right that is missing.
    pub(super) unreadable: Vec<Finding>,
    /// Group, kind and namespace of what is judged and could not be read.
    unread: BTreeSet<(String, String, String)>,
}

impl<'a> Reading<'a> {
    /// Nothing is read yet.
    pub(super) fn new(reader: &'a dyn ClusterReader) -> Self {
        let snapshot = Snapshot::default();
        Self { reader, snapshot, unreadable: Vec::new(), unread: BTreeSet::new() }
    }

    /// Reads the namespaces of `wanted`, and what stands around it. What could be read of `wanted` is given back.
    ///
    /// # Errors
    /// Where the cluster does not answer, or pods or workloads may not be read.
    pub(super) fn around(&mut self, wanted: Vec<Wanted>) -> Result<Vec<Wanted>, Error> {
        let namespaces: BTreeSet<&str> =
            wanted.iter().map(|wanted| wanted.subject.namespace.as_str()).collect();
        for namespace in namespaces {
            let of_here = wanted.iter().filter(|wanted| wanted.subject.namespace == namespace);
            let kinds: BTreeSet<(&str, &str)> =
                of_here.map(|wanted| (wanted.group(), wanted.subject.kind.as_str())).collect();
            self.namespace(namespace, &kinds)?;
        }
        self.help("", "Node", None)?;
        // What may not be read is unreadable, and not missing.
        let is_read = |wanted: &Wanted| !self.unread.contains(&wanted.place());
        Ok(wanted.into_iter().filter(is_read).collect())
    }

    /// Reads everything that can be judged in a namespace, and gives it as what there is to be.
    ///
    /// # Errors
    /// As [`Reading::around`]; where there is no such namespace.
    pub(super) fn whole_namespace(&mut self, namespace: &str) -> Result<Vec<Wanted>, Error> {
        self.namespace(namespace, &KINDS.into())?;
        self.help("", "Node", None)?;
        self.unreadable.extend(require_namespace(self.reader, &self.snapshot, namespace)?);
        let live = KINDS.iter().flat_map(|(group, kind)| self.snapshot.all(group, kind));
        let wanted = live.filter_map(Wanted::of);
        // What runs is taken as what there is to be: only whether it is well is asked.
        Ok(wanted.map(|wanted| Wanted { replicas: None, ..wanted }).collect())
    }

    fn namespace(&mut self, namespace: &str, kinds: &BTreeSet<(&str, &str)>) -> Result<(), Error> {
        for (group, kind) in NEEDED {
            self.need(group, kind, namespace)?;
        }
        for (group, kind) in kinds {
            match *group {
                "apps" => self.need(group, kind, namespace)?,
                _ => self.look(group, kind, namespace)?,
            }
        }
        if !kinds.contains(&("policy", "PodDisruptionBudget")) {
            self.look("policy", "PodDisruptionBudget", namespace)?;
        }
        HELPFUL.into_iter().try_for_each(|(group, kind)| self.help(group, kind, Some(namespace)))
    }

    /// What nothing can be said without.
    fn need(&mut self, group: &str, kind: &str, namespace: &str) -> Result<(), Error> {
        let listing = self.reader.list(&KindName::new(group, kind), Some(namespace))?;
        self.snapshot.extend(listing.items);
        Ok(())
    }

    /// What is judged: a missing right is a finding.
    fn look(&mut self, group: &str, kind: &str, namespace: &str) -> Result<(), Error> {
        match self.reader.list(&KindName::new(group, kind), Some(namespace)) {
            Ok(listing) => self.snapshot.extend(listing.items),
            Err(error @ ClusterError::Denied { .. }) => {
                self.unreadable.push(super::unreadable(group, kind, namespace, &error));
                self.unread.insert((group.to_owned(), kind.to_owned(), namespace.to_owned()));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// What only helps: a missing right is a note.
    fn help(&mut self, group: &str, kind: &str, namespace: Option<&str>) -> Result<(), Error> {
        match self.reader.list(&KindName::new(group, kind), namespace) {
            Ok(listing) => self.snapshot.extend(listing.items),
            Err(error @ ClusterError::Denied { .. }) => {
                let place = namespace.unwrap_or_default();
                self.unreadable.push(super::unreadable(group, kind, place, &error).as_note());
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
