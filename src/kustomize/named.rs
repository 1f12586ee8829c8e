//! Resources by the name that a person gives them: `[KIND[.GROUP]/]NAME`.

use super::resource::{Resource, ResourceId};

/// `[KIND[.GROUP]/]NAME`, divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceName {
    /// The kind, compared without regard to case.
    pub kind: Option<String>,
    /// The API group.
    pub group: Option<String>,
    /// The name.
    pub name: String,
}

impl ResourceName {
    /// Divides `text`; `None` where a part is empty.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, name) = match text.split_once('/') {
            Some((kind, name)) => (Some(kind), name),
            None => (None, text),
        };
        let (kind, group) = match kind.and_then(|kind| kind.split_once('.')) {
            Some((kind, group)) => (Some(kind), Some(group)),
            None => (kind, None),
        };
        let filled = [kind, group, Some(name)].into_iter().flatten().all(|part| !part.is_empty());
        (filled && !name.contains('/')).then(|| Self {
            kind: kind.map(str::to_owned),
            group: group.map(str::to_owned),
            name: name.to_owned(),
        })
    }

    /// Whether it names the resource `id`.
    #[must_use]
    pub fn is_name_of(&self, id: &ResourceId) -> bool {
        *id.name == *self.name
            && self.kind.as_ref().is_none_or(|kind| kind.eq_ignore_ascii_case(&id.kind))
            && self.group.as_ref().is_none_or(|group| group == id.group())
    }

    /// The resources that it names.
    pub fn find<'a>(&self, resources: &'a [Resource]) -> Vec<&'a Resource> {
        resources.iter().filter(|resource| self.is_name_of(&resource.current_id())).collect()
    }
}

impl std::fmt::Display for ResourceName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(kind) = &self.kind {
            f.write_str(kind)?;
            if let Some(group) = &self.group {
                write!(f, ".{group}")?;
            }
            f.write_str("/")?;
        }
        f.write_str(&self.name)
    }
}

/// `KIND.GROUP/NAME`, or `KIND/NAME` in the core group: a name that [`ResourceName`] reads back.
#[must_use]
pub fn shown_name(id: &ResourceId) -> String {
    match id.group() {
        "" => format!("{}/{}", id.kind, id.name),
        group => format!("{}.{group}/{}", id.kind, id.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(kind: Option<&str>, group: Option<&str>, name: &str) -> Option<ResourceName> {
        let owned = |part: Option<&str>| part.map(str::to_owned);
        Some(ResourceName { kind: owned(kind), group: owned(group), name: name.to_owned() })
    }

    #[test]
    fn names_are_divided() {
        assert_eq!(ResourceName::parse("web"), name(None, None, "web"));
        assert_eq!(ResourceName::parse("web.example"), name(None, None, "web.example"));
        assert_eq!(ResourceName::parse("Deployment/web"), name(Some("Deployment"), None, "web"));
        assert_eq!(
            ResourceName::parse("Cluster.postgresql.cnpg.io/db"),
            name(Some("Cluster"), Some("postgresql.cnpg.io"), "db")
        );
        for wrong in ["", "/web", "Deployment/", "Deployment./web", "a/b/c"] {
            assert_eq!(ResourceName::parse(wrong), None, "{wrong}");
        }
    }
}
