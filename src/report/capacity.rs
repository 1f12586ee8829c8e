//! The result of `overlay capacity`.

#[cfg(feature = "templates")]
mod page;

use serde_json::{Value as Json, json};

use super::{Style, Text, counted};
use crate::capacity::amounts::Amounts;
use crate::capacity::demand::{Demand, PodSet};
use crate::capacity::node::NodeKind;
use crate::capacity::resilience::{Because, Sized};
use crate::drain::Holding;
use crate::kustomize::ResourceId;

/// How many nodes of one kind are needed.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The kind.
    pub kind: NodeKind,
    /// What every node runs beside pods that are packed.
    pub daemons: Amounts,
    /// What is left of one node.
    pub usable: Amounts,
    /// How many, or why no number of them will do.
    pub sized: Result<Sized, String>,
    /// How many more each quota lets come.
    pub quotas: Vec<(String, u64)>,
    /// What may not be on nodes of this kind, and why; it is left out.
    pub elsewhere: Vec<(ResourceId, String)>,
}

/// The whole result.
#[derive(Clone, Debug)]
pub struct Capacity {
    /// The overlays, relative to the boundary.
    pub overlays: Vec<String>,
    /// What they ask for.
    pub demand: Demand,
    /// What each kind of node needs.
    pub offers: Vec<Offer>,
    /// The nodes of a cluster and what they hold; none where no cluster is looked at.
    pub holdings: Vec<Holding>,
    /// What is unknown, and what could not be taken into account.
    pub notes: Vec<String>,
}

impl Capacity {
    /// A page that stands by itself.
    ///
    /// # Errors
    /// Where it cannot be made, which is a fault of the program.
    #[cfg(feature = "templates")]
    pub fn to_page(&self) -> Result<Vec<u8>, crate::error::Error> {
        page::to_page(self)
    }

    /// Whether kinds of node are named and no number of any of them will do.
    pub fn has_no_answer(&self) -> bool {
        !self.offers.is_empty() && self.offers.iter().all(|offer| offer.sized.is_err())
    }

    /// The `result` of the JSON form: memory in MiB, processors in thousandths of a core.
    pub fn to_json(&self) -> Json {
        let (pods, asked) = self.demand.total();
        let mut demand = amounts(asked);
        demand["pods"] = json!(pods);
        demand["workloads"] = self.demand.sets.iter().map(pod_set).collect();
        json!({
            "overlays": self.overlays.iter().map(|path| json!({ "path": path })).collect::<Vec<_>>(),
            "demand": demand,
            "nodes": self.offers.iter().map(Offer::to_json).collect::<Vec<_>>(),
            "live": live(&self.holdings),
            "notes": self.notes,
        })
    }

    /// A paragraph for what is asked, one for each kind of node.
    pub fn to_text(&self) -> Text {
        let mut text = Text::default();
        let (pods, asked) = self.demand.total();
        let whose = match self.overlays.as_slice() {
            [] => "what runs".to_owned(),
            overlays => overlays.join(", "),
        };
        text.styled_line(Style::Heading, whose);
        let verb = if pods == 1 { "asks" } else { "ask" };
        let pods = counted(usize::try_from(pods).unwrap_or(usize::MAX), "pod");
        text.line(format!("  {pods} {verb} for {}", shown(asked)));
        if self.demand.daemon_pods > 0 {
            let count = self.demand.daemon_pods;
            text.line(format!("  {count} more on every node for {}", shown(self.demand.daemons)));
        }
        for holding in &self.holdings {
            push_holding(&mut text, holding);
        }
        for offer in &self.offers {
            text.append(offer.to_text());
        }
        for note in &self.notes {
            text.push(Style::Faint, "note").line(format!(": {note}"));
        }
        text
    }
}

impl Offer {
    fn to_json(&self) -> Json {
        let kind = &self.kind;
        let share = |of: u64| percent(self.usable.bytes, of);
        let mut node = json!({
            "name": kind.name,
            "provider": kind.provider.word(),
            "pods": kind.pods,
            "perNode": {
                "seen": amounts(kind.seen),
                "reserved": amounts(kind.reserved()),
                "allocatable": amounts(kind.allocatable()),
                "daemons": amounts(self.daemons),
                "usable": amounts(self.usable),
                "usablePercent": share(kind.seen.bytes),
            },
            "quotas": self.quotas.iter().map(|(name, more)| json!({ "name": name, "moreNodes": more })).collect::<Vec<_>>(),
        });
        let elsewhere = self.elsewhere.iter();
        node["elsewhere"] = elsewhere
            .map(|(owner, reason)| {
                json!({ "resource": super::change::resource_to_json(owner), "reason": reason })
            })
            .collect();
        if let Some(purchased) = kind.purchased {
            node["perNode"]["purchasedMiB"] =
                json!(rounded(crate::capacity::amounts::mebibytes(purchased)));
            node["perNode"]["usablePercentOfPurchased"] = share(purchased);
        }
        match &self.sized {
            Ok(sized) => self.add_numbers(&mut node, sized),
            Err(reason) => node["count"] = json!({ "nodes": null, "reason": reason }),
        }
        node
    }

    fn add_numbers(&self, node: &mut Json, sized: &Sized) {
        node["count"] = json!({
            "nodes": sized.nodes,
            "because": word(sized.because),
            "forPods": sized.packed,
            "proven": sized.is_proven,
            "spread": sized.is_spread,
        });
        let count = sized.nodes as u64;
        node["sum"] = json!({
            "seen": amounts(self.kind.seen.times(count)),
            "allocatable": amounts(self.kind.allocatable().times(count)),
            "usable": amounts(self.usable.times(count)),
        });
        if let Some(cost) = self.cost() {
            node["cost"] = json!(rounded(cost));
        }
    }

    /// What so many nodes cost, where the price is told.
    #[allow(clippy::cast_precision_loss, reason = "a number of nodes")]
    fn cost(&self) -> Option<f64> {
        let nodes = self.sized.as_ref().ok()?.nodes;
        self.kind.price.map(|price| price * nodes as f64)
    }

    fn to_text(&self) -> Text {
        let mut text = Text::default();
        let kind = &self.kind;
        text.styled_line(Style::Heading, &kind.name);
        let steps =
            [("seen", kind.seen), ("allocatable", kind.allocatable()), ("usable", self.usable)];
        let bought = kind.purchased.map(|bytes| {
            let gib = crate::capacity::amounts::mebibytes(bytes) / 1024.0;
            format!("bought {gib:.2} GiB")
        });
        let steps = steps.map(|(name, amounts)| format!("{name} {}", shown(amounts)));
        let steps: Vec<String> = bought.into_iter().chain(steps).collect();
        text.line(format!(
            "  each: {} ({} of what is seen)",
            steps.join(", "),
            percent_shown(self.usable.bytes, kind.seen.bytes)
        ));
        match &self.sized {
            Ok(sized) => {
                let nodes = sized.nodes;
                let s = if nodes == 1 { "" } else { "s" };
                text.push(Style::Added, format!("  {nodes} node{s}"))
                    .line(format!(": {}", reason(sized)));
                if let Some(cost) = self.cost() {
                    text.line(format!("  cost: {cost:.2}"));
                }
            }
            Err(reason) => {
                text.push(Style::Removed, "  no number of nodes").line(format!(": {reason}"));
            }
        }
        for (owner, reason) in &self.elsewhere {
            text.line(format!("  not here: {}/{}: {reason}", owner.kind, owner.name));
        }
        for (name, more) in &self.quotas {
            let needed = self.sized.as_ref().map_or(0, |sized| sized.nodes as u64);
            let style = if *more < needed { Style::Warning } else { Style::Plain };
            text.styled_line(style, format!("  quota {name}: {more} more of these fit"));
        }
        text
    }
}

fn live(holdings: &[Holding]) -> Json {
    if holdings.is_empty() {
        return Json::Null;
    }
    let nodes = holdings.iter().map(|holding| {
        let usable = holding.allocatable - holding.daemons;
        json!({
            "name": holding.name,
            "instanceType": holding.kind,
            "zone": holding.zone,
            "open": holding.is_open,
            "seen": amounts(holding.seen),
            "allocatable": amounts(holding.allocatable),
            "daemons": amounts(holding.daemons),
            "usable": amounts(usable),
            "usablePercent": percent(usable.bytes, holding.seen.bytes),
            "used": amounts(holding.used),
            "free": amounts(holding.allocatable - holding.used),
            "pods": holding.pods.len(),
            "homelessIfLost": holding.homeless,
        })
    });
    json!({
        "nodes": nodes.collect::<Vec<_>>(),
        "survivesLossOfNode": holdings.iter().all(|holding| holding.homeless.is_empty()),
    })
}

fn push_holding(text: &mut Text, holding: &Holding) {
    let free = holding.allocatable - holding.used;
    let closed = if holding.is_open { "" } else { ", takes no pods" };
    text.styled_line(Style::Heading, &holding.name);
    text.line(format!(
        "  {}; allocatable {}, asked for {}, free {}{closed}",
        counted(holding.pods.len(), "pod"),
        shown(holding.allocatable),
        shown(holding.used),
        shown(free)
    ));
    if !holding.homeless.is_empty() {
        let homeless = holding.homeless.join(", ");
        text.styled_line(
            Style::Warning,
            format!("  if it is lost, these find no place: {homeless}"),
        );
    }
}

fn word(because: Because) -> &'static str {
    match because {
        Because::Packing => "packing",
        Because::Floor => "floor",
        Because::Loss => "loss-of-a-node",
        Because::Roll => "room-for-a-roll",
    }
}

fn reason(sized: &Sized) -> String {
    let packed = sized.packed;
    let proven =
        if sized.is_proven { "" } else { " (the search ended before fewer were ruled out)" };
    let held = format!("the pods alone need {packed}{proven}");
    let why = match sized.because {
        Because::Packing => {
            format!("{held}, and with these one can be lost and every workload can roll")
        }
        Because::Floor => format!("{held}; fewer would be below the floor"),
        Because::Loss => format!("{held}; with fewer, the pods of a lost node would find no place"),
        Because::Roll => {
            format!("{held}; with fewer, the surge pods of a roll would find no place")
        }
    };
    let lie = match sized.is_spread {
        true => "",
        false => {
            "; the pods have to lie tightly for that, with what is spare kept free: where they lie evenly it takes more"
        }
    };
    why + lie
}

fn pod_set(set: &PodSet) -> Json {
    let mut json = amounts(set.request);
    json["resource"] = super::change::resource_to_json(&set.owner);
    json["pods"] = if set.is_daemon { json!("every node") } else { json!(set.count) };
    json["surge"] = json!(set.surge);
    json
}

fn amounts(amounts: Amounts) -> Json {
    json!({ "cpuMillicores": amounts.millicores, "memoryMiB": rounded(amounts.mebibytes()) })
}

fn shown(amounts: Amounts) -> String {
    let gib = amounts.mebibytes() / 1024.0;
    format!("{}m cpu and {gib:.2} GiB", amounts.millicores)
}

fn percent_shown(part: u64, of: u64) -> String {
    format!("{} %", percent(part, of))
}

#[allow(clippy::cast_precision_loss, reason = "a share of memory")]
fn percent(part: u64, of: u64) -> Json {
    json!((part as f64 / of.max(1) as f64 * 1000.0).round() / 10.0)
}

/// To a hundredth.
fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}
