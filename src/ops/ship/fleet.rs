//! Which overlays go when, and which of them here.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{ShipRequest, Waves};
use crate::discover::{Located, shown_directory};
use crate::error::{Error, codes};
use crate::ops::Context;
use crate::ops::deliver::Survey;
use crate::ops::edit::EditRequest;
use crate::report::change::Status;
use crate::ship::{Shard, divide};

/// All overlays of one command.
pub(super) struct Fleet {
    root: PathBuf,
    pub(super) waves: Vec<Wave>,
}

/// Overlays that go together.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wave {
    /// Those of our share, as shown.
    pub(super) own: Vec<String>,
    /// Those of the waves before it that others have to ship.
    pub(super) earlier_of_others: Vec<String>,
}

impl Fleet {
    /// Finds out which overlays the edit concerns, and their order.
    ///
    /// # Errors
    /// Where an overlay is not there, the edit is refused before anything has gone, or an overlay is in no wave or in two.
    pub(super) fn open(
        context: &Context,
        request: &ShipRequest,
        edit: &EditRequest,
    ) -> Result<Self, Error> {
        let (files, located) = context.locate(&edit.overlays)?;
        let root = files.root().to_owned();
        let all: Vec<String> = located.iter().map(Located::shown).collect();
        let waves = patterns(context, &request.waves, &root)?;
        if waves.is_empty() && request.shard.is_none() {
            let own = all;
            return Ok(Self { root, waves: vec![Wave { own, earlier_of_others: Vec::new() }] });
        }
        let concerned = concerned(context, edit)?;
        let waves = waves.iter().map(|wave| named(context, wave)).collect::<Result<Vec<_>, _>>()?;
        let divided = divide(&waves, &concerned)
            .map_err(|error| Error::new(codes::WAVES_INVALID, error.to_string()))?;
        Ok(Self { root, waves: shares(&divided, request.shard) })
    }

    /// Overlays as a command names them, wherever it runs.
    pub(super) fn typed(&self, shown: &[String]) -> Vec<OsString> {
        shown.iter().map(|path| self.root.join(path).into_os_string()).collect()
    }
}

/// The share of each wave. Dealing goes on from wave to wave, so that many small waves do not all go to the first share.
fn shares(divided: &[Vec<String>], shard: Option<Shard>) -> Vec<Wave> {
    let mut earlier: Vec<String> = Vec::new();
    let mut waves = Vec::new();
    let mut dealt = 0..;
    for wave in divided {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for (path, at) in wave.iter().zip(&mut dealt) {
            let is_own = shard.is_none_or(|shard| shard.has(at));
            if is_own { &mut own } else { &mut others }.push(path.clone());
        }
        waves.push(Wave { own, earlier_of_others: earlier.clone() });
        earlier.append(&mut others);
    }
    waves
}

/// The patterns of each wave.
fn patterns(
    context: &Context,
    waves: &Waves,
    root: &std::path::Path,
) -> Result<Vec<Vec<OsString>>, Error> {
    match waves {
        Waves::None => Ok(Vec::new()),
        Waves::Typed(waves) => Ok(waves.clone()),
        Waves::Named(name) => {
            let all = context.waves();
            let found = all.iter().find(|order| order.name == *name).ok_or_else(|| {
                let names: Vec<&str> = all.iter().map(|order| order.name.as_str()).collect();
                let message = format!("`.overlay.yaml` has no waves named `{name}`");
                let error = Error::new(codes::WAVES_INVALID, message);
                match names.as_slice() {
                    [] => error.hint("it has none at all; --wave PATTERN gives the order"),
                    names => error.hint(format!("there are: {}", names.join(", "))),
                }
            })?;
            let below_root = |path: &String| root.join(path).into_os_string();
            Ok(found.waves.iter().map(|wave| wave.iter().map(below_root).collect()).collect())
        }
    }
}

/// The overlays that the patterns of a wave name.
fn named(context: &Context, patterns: &[OsString]) -> Result<Vec<String>, Error> {
    let (_, located) = context.locate(patterns)?;
    Ok(located.iter().map(|located| shown_directory(&located.directory)).collect())
}

/// The overlays that the edit concerns, by making it on the base branch.
fn concerned(context: &Context, edit: &EditRequest) -> Result<Vec<String>, Error> {
    let delivery = super::delivery_of(edit)?;
    let survey = Survey::open(context, &edit.overlays, &edit.change, delivery)?;
    let proven = survey.prove(survey.tip()?)?;
    let is_meant = |status| status != Status::Unaffected;
    let meant = proven.overlays.iter().filter(|overlay| is_meant(overlay.status));
    Ok(meant.map(|overlay| overlay.path.clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(of: &[&str]) -> Vec<String> {
        of.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_share_waits_for_what_others_ship_before() {
        let divided = [list(&["dev"]), list(&["stage-a", "stage-b", "stage-c"]), list(&["prod"])];
        let waves = shares(&divided, Some(Shard { number: 2, of: 2 }));
        let expected = [
            Wave { own: list(&[]), earlier_of_others: list(&[]) },
            Wave { own: list(&["stage-a", "stage-c"]), earlier_of_others: list(&["dev"]) },
            Wave { own: list(&[]), earlier_of_others: list(&["dev", "stage-b"]) },
        ];
        assert_eq!(waves, expected);
        let alone = shares(&divided, None);
        assert_eq!(alone[2], Wave { own: list(&["prod"]), earlier_of_others: list(&[]) });
    }

    proptest! {
        /// Every overlay is of one share, shares are balanced in each wave and over all, and each waits for all that others
        /// ship before.
        #[test]
        fn shares_are_a_partition(sizes in prop::collection::vec(0..9usize, 0..7), of in 1..8usize) {
            let name = |wave: usize, at: usize| format!("w{wave}/o{at}");
            let divided: Vec<Vec<String>> = sizes.iter().enumerate()
                .map(|(wave, size)| (0..*size).map(|at| name(wave, at)).collect()).collect();
            let all: Vec<Vec<Wave>> =
                (1..=of).map(|number| shares(&divided, Some(Shard { number, of }))).collect();
            let is_balanced = |counts: Vec<usize>| {
                counts.iter().max().unwrap_or(&0) - counts.iter().min().unwrap_or(&0) <= 1
            };
            for (wave, expected) in divided.iter().enumerate() {
                let mut dealt: Vec<String> = all.iter().flat_map(|s| s[wave].own.clone()).collect();
                dealt.sort();
                prop_assert_eq!(&dealt, expected);
                prop_assert!(is_balanced(all.iter().map(|s| s[wave].own.len()).collect()));
                for share in &all {
                    let own = share[..wave].iter().flat_map(|earlier| earlier.own.clone());
                    let mut before: Vec<String> = own.chain(share[wave].earlier_of_others.clone()).collect();
                    before.sort();
                    prop_assert_eq!(before, divided[..wave].concat());
                }
            }
            let total = |share: &Vec<Wave>| share.iter().map(|wave| wave.own.len()).sum();
            prop_assert!(is_balanced(all.iter().map(total).collect()));
        }
    }
}
