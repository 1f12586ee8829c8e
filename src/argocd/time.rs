//! The controller's times: whole seconds of its own clock, compared with each other alone.

use serde::{Deserialize, Deserializer, de::Error as _};

use crate::clock::parse_rfc_3339;

/// A time that Argo CD wrote, in whole seconds (`metav1.Time` is cut to seconds). It is never compared with this
/// machine's clock, which may run apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The time so many seconds after 1970.
    #[must_use]
    pub fn of_seconds(seconds: i64) -> Self {
        Self(seconds)
    }

    /// How many seconds it is later than `other`; negative where it is earlier.
    #[must_use]
    pub fn seconds_after(self, other: Self) -> i64 {
        self.0.saturating_sub(other.0)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || D::Error::custom(format!("`{text}` is no time"));
        parse_rfc_3339(&text).map(Self).ok_or_else(wrong)
    }
}
