//! Kinds of objects.

/// A kind of object, whatever its version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindName {
    /// The API group; empty for the core one.
    pub group: String,
    /// The kind, such as `Deployment`.
    pub kind: String,
}

impl KindName {
    /// The kind `kind` of `group`.
    #[must_use]
    pub fn new(group: &str, kind: &str) -> Self {
        Self { group: group.to_owned(), kind: kind.to_owned() }
    }

    /// The kind of an object with this `apiVersion` and `kind`.
    #[must_use]
    pub fn of(api_version: &str, kind: &str) -> Self {
        Self::new(api_version.rsplit_once('/').map_or("", |(group, _)| group), kind)
    }
}

impl std::fmt::Display for KindName {
    /// `Kind`, or `Kind.group`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.kind)?;
        match self.group.as_str() {
            "" => Ok(()),
            group => write!(f, ".{group}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_without_its_version() {
        assert_eq!(KindName::of("apps/v1", "Deployment"), KindName::new("apps", "Deployment"));
        assert_eq!(KindName::of("v1", "Pod"), KindName::new("", "Pod"));
        assert_eq!(KindName::of("v1", "Pod").to_string(), "Pod");
        assert_eq!(KindName::of("a.io/v1", "B").to_string(), "B.a.io");
    }
}
