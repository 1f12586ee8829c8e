//! What CloudNativePG accepts as `spec.imageName`: a tag that is a PostgreSQL version, and no other
//! major version than the one that runs.

use crate::image::postgres_major;

/// Why the operator would refuse a tag, or do more than a pin may.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseTagError {
    /// `latest`, `stable`, a commit.
    #[error(
        "the tag `{0}` is no PostgreSQL version, and the operator takes the version from the tag"
    )]
    NoVersion(String),
    /// 16 to 17.
    #[error(
        "the tag `{new}` is major version {to} where `{old}` is {from}: a major upgrade is no pin"
    )]
    OtherMajor {
        /// The tag that is rendered.
        old: String,
        /// The tag that is asked for.
        new: String,
        /// The major version that runs.
        from: u32,
        /// The one asked for.
        to: u32,
    },
}

/// Checks the tag `new` for a database whose reference has the tag `old` (empty where it has none).
///
/// # Errors
/// [`DatabaseTagError`].
pub(super) fn check_database_tag(old: &str, new: &str) -> Result<(), DatabaseTagError> {
    let Some(to) = postgres_major(new) else {
        return Err(DatabaseTagError::NoVersion(new.to_owned()));
    };
    match postgres_major(old) {
        Some(from) if from != to => {
            Err(DatabaseTagError::OtherMajor { old: old.to_owned(), new: new.to_owned(), from, to })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_a_version_of_the_same_major() {
        assert_eq!(check_database_tag("16.9-ts2.17", "16.10-ts2.17"), Ok(()));
        assert_eq!(check_database_tag("16.9", "16"), Ok(()));
        assert_eq!(check_database_tag("", "17.0"), Ok(()));
        for tag in ["latest", "stable", "16.x", "v16"] {
            assert_eq!(
                check_database_tag("16.9", tag),
                Err(DatabaseTagError::NoVersion(tag.into()))
            );
        }
        let major = check_database_tag("16.9", "17.0-ts2.17");
        assert!(matches!(major, Err(DatabaseTagError::OtherMajor { from: 16, to: 17, .. })));
    }
}
