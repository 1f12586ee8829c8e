//! Operating system and architecture, in the words of the OCI image index (`platform` of a descriptor).

use std::fmt;
use std::str::FromStr;

/// `OS/ARCHITECTURE[/VARIANT]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Platform {
    os: String,
    architecture: String,
    variant: Option<String>,
}

/// A text that is no platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no platform; write it as OS/ARCHITECTURE[/VARIANT], such as linux/amd64 or linux/arm/v7"
)]
pub struct PlatformError(String);

impl Platform {
    /// From the fields of a manifest or configuration; `unknown` and empty ones are no platform.
    pub(super) fn of(os: &str, architecture: &str, variant: Option<&str>) -> Option<Self> {
        let is_known = |text: &str| is_word(text) && text != "unknown";
        if !is_known(os) || !is_known(architecture) {
            return None;
        }
        let variant = variant.filter(|text| is_word(text)).map(str::to_owned);
        Some(Self { os: os.to_owned(), architecture: architecture.to_owned(), variant })
    }

    /// Whether an image for `self` runs where `wanted` is asked for: without a variant every one fits, and `v8` is what
    /// `arm64` means anyway.
    pub fn fits(&self, wanted: &Self) -> bool {
        let variant = |platform: &Self| match (platform.architecture.as_str(), &platform.variant) {
            ("arm64", Some(v8)) if v8 == "v8" => None,
            (_, variant) => variant.clone(),
        };
        self.os == wanted.os
            && self.architecture == wanted.architecture
            && (wanted.variant.is_none() || variant(self) == variant(wanted))
    }
}

fn is_word(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    !text.is_empty() && text.len() <= 64 && text.bytes().all(allowed)
}

impl FromStr for Platform {
    type Err = PlatformError;

    fn from_str(text: &str) -> Result<Self, PlatformError> {
        let parts: Vec<&str> = text.split('/').collect();
        let platform = match parts[..] {
            [os, architecture] => Self::of(os, architecture, None),
            [os, architecture, variant] if is_word(variant) => {
                Self::of(os, architecture, Some(variant))
            }
            _ => None,
        };
        platform.ok_or_else(|| PlatformError(text.to_owned()))
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.os, self.architecture)?;
        self.variant.iter().try_for_each(|variant| write!(f, "/{variant}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_are_read_and_compared() {
        let parse = |text: &str| text.parse::<Platform>().unwrap();
        for (has, wanted, fits) in [
            ("linux/amd64", "linux/amd64", true),
            ("linux/amd64", "linux/arm64", false),
            ("linux/amd64", "windows/amd64", false),
            ("linux/arm64/v8", "linux/arm64", true),
            ("linux/arm64", "linux/arm64/v8", true),
            ("linux/arm/v6", "linux/arm/v7", false),
            ("linux/arm/v7", "linux/arm", true),
            ("linux/arm", "linux/arm/v7", false),
        ] {
            assert_eq!(parse(has).fits(&parse(wanted)), fits, "{has} {wanted}");
        }
        for wrong in
            ["", "linux", "linux/", "/amd64", "linux/amd64/", "a/b/c/d", "unknown/unknown", "l x/y"]
        {
            assert!(wrong.parse::<Platform>().is_err(), "{wrong}");
        }
    }
}
