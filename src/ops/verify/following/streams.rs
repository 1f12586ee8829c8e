//! What is watched while a roll is followed: one stream for each kind in each namespace, each on a thread of its own.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use crate::cluster::{ClusterError, ClusterReader, KindName, WatchEvent};
use crate::rollout::{Goal, KINDS};

/// Kinds that are watched beside those that are wanted: group, kind, what a missing right means.
const AROUND: [(&str, &str, Need); 7] = [
    ("", "Pod", Need::All),
    ("apps", "ReplicaSet", Need::All),
    ("policy", "PodDisruptionBudget", Need::Some),
    ("", "Event", Need::None),
    ("", "PersistentVolumeClaim", Need::None),
    ("", "ConfigMap", Need::None),
    ("apps", "ControllerRevision", Need::None),
];

/// What it means where a kind may not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    /// Nothing: it only helps to explain.
    None,
    /// A finding.
    Some,
    /// The end: nothing can be said without it.
    All,
}

/// One watch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stream {
    /// Of what.
    pub(super) kind: KindName,
    /// Empty for all.
    pub(super) namespace: String,
    /// What a missing right means.
    pub(super) need: Need,
}

/// What a stream tells.
pub(super) type Message = (Arc<Stream>, Result<WatchEvent, ClusterError>);

/// What is watched for a goal.
pub(super) fn streams(goal: &Goal) -> BTreeSet<Stream> {
    let mut streams = BTreeSet::new();
    let mut watch = |group: &str, kind: &str, namespace: &str, need: Need| {
        let kind = KindName::new(group, kind);
        streams.insert(Stream { kind, namespace: namespace.to_owned(), need });
    };
    let need_of = |group: &str| if group == "apps" { Need::All } else { Need::Some };
    let namespaces: BTreeSet<&str> = match goal {
        Goal::Namespace(place) => {
            KINDS.iter().for_each(|(group, kind)| watch(group, kind, place, need_of(group)));
            [place.as_str()].into()
        }
        Goal::Rendered(wanted) => {
            for wanted in wanted {
                let (group, subject) = (wanted.group(), &wanted.subject);
                watch(group, &subject.kind, &subject.namespace, need_of(group));
            }
            wanted.iter().map(|wanted| wanted.subject.namespace.as_str()).collect()
        }
    };
    for namespace in namespaces {
        AROUND.iter().for_each(|(group, kind, need)| watch(group, kind, namespace, *need));
    }
    watch("", "Node", "", Need::None);
    streams
}

/// Tells what a stream says, until nobody listens any more.
pub(super) fn listen(reader: Arc<dyn ClusterReader>, stream: Arc<Stream>, tell: Sender<Message>) {
    let watch = move || {
        let namespace = Some(stream.namespace.as_str()).filter(|place| !place.is_empty());
        let ended = reader.watch(&stream.kind, namespace, &mut |event| match tell
            .send((Arc::clone(&stream), Ok(event)))
        {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        });
        if let Err(error) = ended {
            let _ = tell.send((stream, Err(error)));
        }
    };
    drop(std::thread::Builder::new().name("overlay-watch".to_owned()).spawn(watch));
}
