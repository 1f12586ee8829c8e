//! The order in which overlays go: waves one after the other, and the share of one machine of many.

/// A share of the overlays: the `number`th of `of`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 1.
    pub number: usize,
    /// Of how many.
    pub of: usize,
}

/// Why a text is no shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no share such as 1/4: a number from 1, a slash, and how many there are")]
pub struct ShardError {
    text: String,
}

impl std::str::FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let wrong = || ShardError { text: text.to_owned() };
        let number = |digits: &str| {
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            digits.parse::<usize>().ok().filter(|_| plain)
        };
        let (first, second) = text.split_once('/').ok_or_else(wrong)?;
        let (number, of) = (number(first).ok_or_else(wrong)?, number(second).ok_or_else(wrong)?);
        if number == 0 || number > of {
            return Err(wrong());
        }
        Ok(Self { number, of })
    }
}

impl Shard {
    /// Whether the item at `at` of a sorted list is of this share: dealt out one by one, so that shares differ by one at most.
    #[must_use]
    pub fn has(self, at: usize) -> bool {
        at % self.of == self.number - 1
    }
}

/// Why overlays are in no order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WaveError {
    /// Overlays of the edit are in no wave.
    #[error("in no wave: {}", overlays.join(", "))]
    LeftOut {
        /// Those.
        overlays: Vec<String>,
    },
    /// An overlay is in two waves.
    #[error("{overlay} is in wave {first} and in wave {second}")]
    Twice {
        /// The overlay.
        overlay: String,
        /// The earlier wave, from 1.
        first: usize,
        /// The later one.
        second: usize,
    },
}

/// The `overlays` of an edit by the waves that they are in: for each of `waves`, which name directories, those of it that the edit
/// concerns, sorted. A wave that the edit does not concern is empty. Without waves all go as one.
///
/// # Errors
/// [`WaveError`].
pub fn divide(waves: &[Vec<String>], overlays: &[String]) -> Result<Vec<Vec<String>>, WaveError> {
    let mut all = overlays.to_vec();
    all.sort();
    all.dedup();
    if waves.is_empty() {
        return Ok(vec![all]);
    }
    let wave_of = |overlay: &String| {
        let mut found = waves.iter().enumerate().filter(|(_, wave)| wave.contains(overlay));
        match (found.next(), found.next()) {
            (Some((first, _)), Some((second, _))) => Err(WaveError::Twice {
                overlay: overlay.clone(),
                first: first + 1,
                second: second + 1,
            }),
            (first, _) => Ok(first.map(|(at, _)| at)),
        }
    };
    let mut divided = vec![Vec::new(); waves.len()];
    let mut left = Vec::new();
    for overlay in all {
        match wave_of(&overlay)? {
            Some(at) => divided[at].push(overlay),
            None => left.push(overlay),
        }
    }
    if left.is_empty() { Ok(divided) } else { Err(WaveError::LeftOut { overlays: left }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(of: &[&str]) -> Vec<String> {
        of.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn waves_take_what_the_edit_concerns() {
        let waves = [list(&["dev", "lab"]), list(&["stage-b", "stage-a"]), list(&["prod"])];
        let divided = divide(&waves, &list(&["prod", "stage-b", "stage-a", "dev"]));
        assert_eq!(
            divided,
            Ok(vec![list(&["dev"]), list(&["stage-a", "stage-b"]), list(&["prod"])])
        );
        assert_eq!(divide(&[], &list(&["b", "a"])), Ok(vec![list(&["a", "b"])]));
    }

    #[test]
    fn what_has_no_place_or_two_is_named() {
        let waves = [list(&["dev"]), list(&["dev", "prod"])];
        let twice = WaveError::Twice { overlay: "dev".into(), first: 1, second: 2 };
        assert_eq!(divide(&waves, &list(&["dev"])), Err(twice));
        let left = WaveError::LeftOut { overlays: list(&["stage"]) };
        assert_eq!(divide(&waves, &list(&["stage", "prod"])), Err(left));
    }

    #[test]
    fn a_share_is_a_number_of_a_number() {
        assert_eq!("2/4".parse(), Ok(Shard { number: 2, of: 4 }));
        for text in ["", "1", "0/4", "5/4", "1/0", "a/4", "+1/4", "1/4/2", "-1/4"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    proptest! {
        /// Every item is of exactly one share.
        #[test]
        fn shares_cover_everything_once(of in 1..20usize, items in 0..100usize) {
            let mut counts = vec![0; of];
            for at in 0..items {
                let owners = (1..=of).filter(|number| Shard { number: *number, of }.has(at));
                let owners: Vec<usize> = owners.collect();
                prop_assert_eq!(owners.len(), 1);
                counts[owners[0] - 1] += 1;
            }
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            prop_assert!(most - least <= 1);
        }
    }
}
