//! A cluster as `kubectl get … -o json` wrote it down: one list, several of them one after another, or single objects.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde_json::Value;

use super::{ClusterError, ClusterReader, KindName, Listing, LogName, ObjectName, WatchEvent};
use crate::json::JsonProblem;

/// The objects of a dump.
#[derive(Clone, Debug, Default)]
pub struct Dump {
    described: String,
    objects: Vec<(KindName, Value)>,
}

/// Why a text is no dump.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DumpError {
    /// One sentence.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl Dump {
    /// Reads a dump; `described` names it in messages.
    ///
    /// # Errors
    /// [`DumpError`] for broken JSON, or something in it that is no object of Kubernetes.
    pub fn parse(described: &str, text: &str) -> Result<Self, DumpError> {
        let mut dump = Self { described: described.to_owned(), objects: Vec::new() };
        let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        loop {
            let before = documents.byte_offset();
            match documents.next() {
                None => return Ok(dump),
                Some(Ok(document)) => dump.add(document, &place(text, before))?,
                Some(Err(error)) => {
                    let JsonProblem { line, column, reason } = (&error).into();
                    let message = format!("not the JSON of `kubectl get -o json`: {reason}");
                    return Err(DumpError { message, line, column });
                }
            }
        }
    }

    /// A dump of these objects.
    #[must_use]
    pub fn of(objects: impl IntoIterator<Item = Value>) -> Self {
        let objects = objects.into_iter().map(|object| (kind_of(&object), object)).collect();
        Self { described: "a dump".to_owned(), objects }
    }

    /// Adds the objects of another dump.
    pub fn append(&mut self, other: Self) {
        match self.described.as_str() {
            "" => self.described = other.described,
            _ => self.described = format!("{}, {}", self.described, other.described),
        }
        self.objects.extend(other.objects);
    }

    /// Leaves of each object, known by kind, namespace and name, what was read last: dumps may overlap.
    #[must_use]
    pub fn without_repeats(mut self) -> Self {
        let mut seen = BTreeSet::new();
        self.objects.reverse();
        self.objects.retain(|(kind, object)| {
            let (namespace, name) = (text_of(object, "namespace"), text_of(object, "name"));
            name.is_empty() || seen.insert((kind.clone(), namespace.to_owned(), name.to_owned()))
        });
        self.objects.reverse();
        self
    }

    /// The kinds and objects, in the order of the dump.
    pub(super) fn into_objects(self) -> Vec<(KindName, Value)> {
        self.objects
    }

    pub(super) fn add(
        &mut self,
        mut document: Value,
        at: &(usize, usize),
    ) -> Result<(), DumpError> {
        let kind = document["kind"].as_str().unwrap_or_default().to_owned();
        let api_version = document["apiVersion"].as_str().unwrap_or_default().to_owned();
        let wrong = |message: &str| {
            let message = message.to_owned();
            DumpError { message, line: at.0, column: at.1 }
        };
        if kind.is_empty() || api_version.is_empty() {
            return Err(wrong("not an object of Kubernetes: `apiVersion` or `kind` is missing"));
        }
        let Some(of_items) = kind.strip_suffix("List").filter(|_| document["items"].is_array())
        else {
            self.objects.push((kind_of(&document), document));
            return Ok(());
        };
        let Value::Array(items) = document["items"].take() else { return Ok(()) };
        for mut item in items {
            if !item.is_object() {
                return Err(wrong("an item of the list is no object"));
            }
            // The items of a typed list state neither.
            if !of_items.is_empty() {
                fill_in(&mut item, &api_version, of_items);
            }
            self.objects.push((kind_of(&item), item));
        }
        Ok(())
    }
}

/// Gives an object that states no kind the one of its list.
pub(super) fn fill_in(item: &mut Value, api_version: &str, kind: &str) {
    for (key, value) in [("apiVersion", api_version), ("kind", kind)] {
        if !item[key].is_string() {
            item[key] = value.into();
        }
    }
}

fn kind_of(object: &Value) -> KindName {
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    KindName::of(text("apiVersion"), text("kind"))
}

/// Line and column of the first sign from `offset` on.
pub(super) fn place(text: &str, offset: usize) -> (usize, usize) {
    let rest = text.get(offset..).unwrap_or_default();
    let at = offset + (rest.len() - rest.trim_start().len());
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

fn text_of<'a>(object: &'a Value, key: &str) -> &'a str {
    object["metadata"][key].as_str().unwrap_or_default()
}

impl ClusterReader for Dump {
    fn default_namespace(&self) -> Option<&str> {
        None
    }

    fn described(&self) -> String {
        self.described.clone()
    }

    fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    fn list(&self, kind: &KindName, namespace: Option<&str>) -> Result<Listing, ClusterError> {
        let of_kind = || self.objects.iter().filter(|(known, _)| known == kind);
        let is_here = |object: &&Value| {
            let own = text_of(object, "namespace");
            namespace.is_none_or(|namespace| own.is_empty() || own == namespace)
        };
        let items = of_kind().map(|(_, object)| object).filter(is_here).cloned().collect();
        Ok(Listing { items, version: String::new(), is_known: of_kind().next().is_some() })
    }

    fn find(&self, object: &ObjectName) -> Result<Option<Value>, ClusterError> {
        let all = self.list(&object.kind, Some(&object.namespace))?;
        Ok(all.items.into_iter().find(|item| text_of(item, "name") == object.name))
    }

    fn watch(
        &self,
        kind: &KindName,
        namespace: Option<&str>,
        heard: &mut dyn FnMut(WatchEvent) -> ControlFlow<()>,
    ) -> Result<(), ClusterError> {
        let _ = heard(WatchEvent::Listed(self.list(kind, namespace)?.items));
        Ok(())
    }

    fn log(&self, log: &LogName) -> Result<String, ClusterError> {
        let message = format!("{}: a dump has no log of pod {}", self.described, log.pod);
        Err(ClusterError::Invalid { message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = r#"{"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "x"}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}]}
        {"apiVersion": "apps/v1", "kind": "DeploymentList", "items": [
        {"metadata": {"name": "web", "namespace": "y"}}]}"#;

    #[test]
    fn several_lists_are_one_dump() {
        let dump = Dump::parse("dump.json", TWO).unwrap();
        let names = |kind: &KindName, namespace| {
            let items = dump.list(kind, namespace).unwrap().items;
            items.iter().map(|item| text_of(item, "name").to_owned()).collect::<Vec<_>>()
        };
        let pods = KindName::new("", "Pod");
        assert_eq!(names(&pods, None), ["a"]);
        assert_eq!(names(&pods, Some("y")), [""; 0]);
        assert_eq!(names(&KindName::new("", "Node"), Some("y")), ["n"]);
        let deployments = dump.list(&KindName::new("apps", "Deployment"), None).unwrap();
        assert_eq!(deployments.items[0]["kind"], "Deployment");
        assert!(!dump.list(&KindName::new("apps", "StatefulSet"), None).unwrap().is_known);
        let name = ObjectName { kind: pods, namespace: "x".into(), name: "a".into() };
        assert!(dump.find(&name).unwrap().is_some());
    }

    /// Of the group, not of its version; of two, the one that was read later.
    #[test]
    fn an_object_that_is_read_twice_is_one() {
        let one = |version: &str, namespace: &str, size: u8| {
            serde_json::json!({"apiVersion": version, "kind": "HorizontalPodAutoscaler", "size": size,
                "metadata": {"name": "a", "namespace": namespace}})
        };
        let mut dump = Dump::of([one("autoscaling/v1", "x", 1), one("example.org/v1", "x", 2)]);
        dump.append(Dump::of([one("autoscaling/v2", "x", 3), one("autoscaling/v2", "y", 4)]));
        let objects = dump.without_repeats().into_objects();
        let sizes: Vec<u64> = objects.iter().map(|(_, o)| o["size"].as_u64().unwrap()).collect();
        assert_eq!(sizes, [2, 3, 4]);
    }

    #[test]
    fn what_is_no_dump_has_its_place() {
        for (text, line, column) in [
            ("{\"apiVersion\": \"v1\",\n  oops", 2, 3),
            ("{}", 1, 1),
            ("{\"apiVersion\": \"v1\", \"kind\": \"Pod\"}\n  {\"kind\": \"Pod\"}", 2, 3),
            ("{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [7]}", 1, 1),
            ("NAME READY\nweb 1/1", 1, 1),
        ] {
            let error = Dump::parse("f", text).unwrap_err();
            assert_eq!((error.line, error.column), (line, column), "{text} {error}");
        }
        assert!(Dump::parse("f", "").unwrap().objects.is_empty());
    }
}
