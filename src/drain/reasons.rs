//! Why a pod finds no place, and what to do about it.

use super::board::Refusal;
use super::plan::{Obstacle, Planner};
use crate::capacity::eligible::{intolerable, lacking_label, terms_match, terms_shown};

/// The kind of obstacle, what it is, and what to do about it.
struct Reason {
    id: &'static str,
    why: String,
    fix: &'static str,
}

impl Reason {
    fn new(id: &'static str, why: String, fix: &'static str) -> Self {
        Self { id, why, fix }
    }
}

/// What is told where no node is open, once for all pods.
const NO_TARGET: &str = "no-target";

impl Planner<'_> {
    /// An obstacle for a pod that fits on none of the nodes that are open.
    pub(super) fn tell_no_place(&mut self, pod: usize, is_protected: bool) {
        let shown = self.board.state.pods[pod].shown();
        let nodes: Vec<usize> =
            (0..self.board.state.nodes.len()).filter(|node| self.board.is_open(*node)).collect();
        if nodes.is_empty() {
            return self.tell_no_target(shown);
        }
        let Reason { id, why, fix } = self.why_no_place(pod, &nodes);
        let id = if is_protected { "protected-pending" } else { id };
        let message = format!("{shown} will find no place: {why}");
        let fix = fix.to_owned();
        self.plan.obstacles.push(Obstacle { id, message, pods: vec![shown], fix });
    }

    fn tell_no_target(&mut self, shown: String) {
        let known = self.plan.obstacles.iter_mut().find(|obstacle| obstacle.id == NO_TARGET);
        if let Some(known) = known {
            known.pods.push(shown);
            return;
        }
        self.plan.obstacles.push(Obstacle {
            id: NO_TARGET,
            message: "no node is open that pods could go to".to_owned(),
            pods: vec![shown],
            fix:
                "add nodes first (--new N --node memory=…,cpu=… plans with them), or uncordon some"
                    .to_owned(),
        });
    }

    /// That nothing is known of the nodes that are to come.
    pub(super) fn tell_no_pattern(&mut self) {
        if self.plan.obstacles.iter().any(|obstacle| obstacle.id == NO_TARGET) {
            return;
        }
        self.plan.obstacles.push(Obstacle {
            id: NO_TARGET,
            message:
                "nothing is known of the nodes that are to come, so that pods have none to go to"
                    .to_owned(),
            pods: Vec::new(),
            fix: "tell what they have: --node memory=15.62GiB,cpu=4".to_owned(),
        });
    }

    /// What is against every one of `nodes`. What bars a node for good is looked at first, one thing after another: what is to be
    /// said of a taint is of no use where the volume could not follow.
    fn why_no_place(&self, pod: usize, nodes: &[usize]) -> Reason {
        let (state, who) = (&self.board.state, &self.board.state.pods[pod]);
        let face = |node: usize| &state.nodes[node].face;
        let unreachable = |node: usize| {
            let claims = who.claims.iter().map(|claim| &state.claims[*claim]);
            claims.into_iter().find(|claim| {
                claim.terms.as_ref().is_some_and(|terms| !terms_match(terms, face(node)))
            })
        };
        let (near, elsewhere): (Vec<usize>, Vec<usize>) =
            nodes.iter().partition(|node| unreachable(**node).is_none());
        if let ([], Some(claim)) =
            (near.as_slice(), elsewhere.first().and_then(|at| unreachable(*at)))
        {
            return why_its_volume(claim);
        }
        let beside = match elsewhere.is_empty() {
            true => "",
            false => ", and its volumes can be on no other node",
        };
        let lacking = |node: &usize| lacking_label(&who.spec, face(*node));
        let labelled: Vec<usize> =
            near.iter().copied().filter(|node| lacking(node).is_none()).collect();
        if let ([], Some(label)) = (labelled.as_slice(), near.iter().find_map(lacking)) {
            let why = format!("no node to go to has {label}{beside}");
            return Reason::new(
                "no-node-fits",
                why,
                "label the new nodes, or change what it asks for",
            );
        }
        let taint = |node: &usize| intolerable(&who.spec, face(*node));
        let allowed: Vec<usize> =
            labelled.iter().copied().filter(|node| taint(node).is_none()).collect();
        if allowed.is_empty() {
            let mut taints: Vec<String> = labelled.iter().filter_map(taint).collect();
            taints.sort();
            taints.dedup();
            let why = format!("it does not tolerate {}{beside}", taints.join(" and "));
            let fix = "let it tolerate that, or take the taint off nodes to go to";
            return Reason::new("no-node-fits", why, fix);
        }
        self.why_taken(pod, &allowed)
    }

    /// What is against nodes that a pod may be on as such.
    fn why_taken(&self, pod: usize, nodes: &[usize]) -> Reason {
        let around = self.board.around(pod);
        let mut by_kind: Vec<(Refusal, Vec<usize>)> = Vec::new();
        for node in nodes {
            let Some(why) = self.board.refusal_beside(pod, *node, &around) else { continue };
            match by_kind.iter_mut().find(|(known, _)| *known == why) {
                Some((_, there)) => there.push(*node),
                None => by_kind.push((why, vec![*node])),
            }
        }
        by_kind.sort_by_key(|(why, _)| precedence(why));
        let mut reasons = by_kind.iter().map(|(why, there)| (self.reason(pod, why, there), there));
        let Some((first, there)) = reasons.next() else {
            return Reason::new("no-node-fits", "others took its place".to_owned(), "add a node");
        };
        if by_kind.len() == 1 {
            return first;
        }
        let mut parts = vec![format!("{} (so it is with {})", first.why, self.names(there))];
        parts
            .extend(reasons.map(|(other, there)| format!("{} ({})", other.why, self.names(there))));
        Reason { why: parts.join("; "), ..first }
    }

    fn reason(&self, pod: usize, why: &Refusal, nodes: &[usize]) -> Reason {
        match why {
            Refusal::Full => self.why_too_large(pod, nodes),
            Refusal::Crowded => Reason::new(
                "too-many-pods",
                "a node takes so many pods and no more, and has them".to_owned(),
                "add a node, or raise maxPods of the kubelets",
            ),
            Refusal::Lacks(name) => Reason::new(
                "no-node-fits",
                format!("no node to go to has {name} left for it"),
                "add a node that has it",
            ),
            Refusal::Port(port) => Reason::new(
                "no-node-fits",
                format!("its host port {port} is taken on every node to go to"),
                "add a node that has it",
            ),
            Refusal::Far => Reason::new(
                "affinity-unmet",
                format!("its affinity wants it near pods with {}", self.board.companions(pod)),
                "move those first (a rule `order` in .overlay.yaml), or change the affinity",
            ),
            Refusal::Uneven => {
                Reason::new("kept-apart", "a topology spread keeps it off".to_owned(), "add a node")
            }
            _ => Reason::new("kept-apart", "anti-affinity keeps it off".to_owned(), "add a node"),
        }
    }

    fn why_too_large(&self, pod: usize, nodes: &[usize]) -> Reason {
        let request = self.board.state.pods[pod].request;
        let free = nodes.iter().map(|node| self.board.free(*node));
        let largest = free.max_by_key(|free| free.bytes).unwrap_or_default();
        let why = format!(
            "it asks for {}m cpu and {:.0} MiB, and the largest free block is {}m cpu and {:.0} MiB",
            request.millicores,
            request.mebibytes(),
            largest.millicores,
            largest.mebibytes()
        );
        let fix = "add a node, or make its requests smaller: overlay set resources";
        Reason::new("too-large", why, fix)
    }

    /// The names of some nodes.
    fn names(&self, nodes: &[usize]) -> String {
        let mut names: Vec<String> = nodes.iter().map(|node| self.name(*node).to_owned()).collect();
        if names.len() > MOST_NAMES {
            let more = names.len() - MOST_NAMES;
            names.truncate(MOST_NAMES);
            names.push(format!("{more} more"));
        }
        names.join(", ")
    }
}

/// How many nodes are named in a reason.
const MOST_NAMES: usize = 4;

/// Which of several reasons is told first: the one that a larger node would mend.
fn precedence(why: &Refusal) -> usize {
    match why {
        Refusal::Full => 0,
        Refusal::Crowded => 1,
        Refusal::Lacks(_) | Refusal::Port(_) => 2,
        Refusal::Far => 3,
        _ => 4,
    }
}

fn why_its_volume(claim: &super::state::Claim) -> Reason {
    let place = claim.terms.as_ref().map(|terms| terms_shown(terms)).unwrap_or_default();
    let name = &claim.name;
    match claim.is_local {
        true => Reason::new(
            "local-data",
            format!("its claim {name} lies on the disk of a node ({place})"),
            "move the data first: a backup, or a replica elsewhere",
        ),
        false => Reason::new(
            "volume-elsewhere",
            format!("its claim {name} can only be where {place}, and no node to go to is there"),
            "make the new nodes in the zone of the volume",
        ),
    }
}
