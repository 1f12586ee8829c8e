//! Reading of a cluster what a judgement needs, as little as that is.

use std::collections::BTreeSet;

use crate::cluster::{ClusterError, ClusterReader, KindName};
use crate::error::Error;
use crate::rollout::{Finding, KINDS, Snapshot, Wanted};

/// What is read of every namespace beside what is judged; without pods and sets nothing can be said.
const NEEDED: [(&str, &str); 2] = [("", "Pod"), ("apps", "ReplicaSet")];
/// What helps to explain: a right that is missing here is no news.
const HELPFUL: [(&str, &str); 3] =
    [("", "Event"), ("", "PersistentVolumeClaim"), ("apps", "ControllerRevision")];

/// What was read, and what could not be.
pub(super) struct Reading<'a> {
    reader: &'a dyn ClusterReader,
    /// The objects.
    pub(super) snapshot: Snapshot,
    /// A finding for each right that is missing.
    pub(super) unreadable: Vec<Finding>,
}

impl<'a> Reading<'a> {
    /// Nothing is read yet.
    pub(super) fn new(reader: &'a dyn ClusterReader) -> Self {
        Self { reader, snapshot: Snapshot::default(), unreadable: Vec::new() }
    }

    /// Reads the namespaces of `wanted`, and what stands around it.
    ///
    /// # Errors
    /// Where the cluster does not answer, or pods or workloads may not be read.
    pub(super) fn around(&mut self, wanted: &[Wanted]) -> Result<(), Error> {
        let namespaces: BTreeSet<&str> =
            wanted.iter().map(|wanted| wanted.subject.namespace.as_str()).collect();
        for namespace in namespaces {
            let of_here = wanted.iter().filter(|wanted| wanted.subject.namespace == namespace);
            let kinds: BTreeSet<(&str, &str)> =
                of_here.map(|wanted| (wanted.group(), wanted.subject.kind.as_str())).collect();
            self.namespace(namespace, &kinds)?;
        }
        self.help("", "Node", None)
    }

    /// Reads everything that can be judged in a namespace, and gives it as what there is to be.
    ///
    /// # Errors
    /// As [`Reading::around`].
    pub(super) fn whole_namespace(&mut self, namespace: &str) -> Result<Vec<Wanted>, Error> {
        self.namespace(namespace, &KINDS.into())?;
        self.help("", "Node", None)?;
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
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// What only helps.
    fn help(&mut self, group: &str, kind: &str, namespace: Option<&str>) -> Result<(), Error> {
        match self.reader.list(&KindName::new(group, kind), namespace) {
            Ok(listing) => self.snapshot.extend(listing.items),
            Err(ClusterError::Denied { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
