//! Finds every value that a path with patterns leads to, and makes missing ones where asked.
//!
//! Source: kyaml `yaml/match.go` (`PathMatcher`): `[field=pattern]` is a regular expression that is
//! not anchored, `*` is every element of a list.

use super::embedded_yaml;
use super::emit;
use super::go_regexp;
use super::limits::MAX_PATH;
use super::location::Location;
use super::lookup::{Step, kind_name};
use crate::kustomize::node::{Comment, Map, Node, Scalar, Style, Tag, Value};
use crate::kustomize::origin::Origin;
use crate::kustomize::read;

/// The kind of value that is made at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MadeKind {
    /// A scalar.
    Scalar,
    /// A map.
    Map,
    /// A list.
    Seq,
}

impl MadeKind {
    /// The kind of `node`.
    pub(crate) fn of(node: &Node) -> Self {
        match &node.value {
            Value::Scalar(_) => Self::Scalar,
            Value::Map(_) => Self::Map,
            Value::Seq(_) => Self::Seq,
        }
    }

    fn empty(self, origin: Origin) -> Node {
        match self {
            Self::Scalar => Node::untagged("", origin),
            Self::Map => Node::map(Map::new(), origin),
            Self::Seq => Node::seq(Vec::new(), origin),
        }
    }
}

/// What a path leads to.
#[derive(Debug, Default)]
pub(super) struct Matched {
    /// How many values it leads to, also those that no change reaches.
    pub(super) count: usize,
    /// Where those stand that can be changed.
    pub(super) locations: Vec<Location>,
}

/// Why a path was not walked to its end.
pub(super) enum Failure {
    /// It takes what only kustomize can do.
    Unsupported(&'static str),
    /// Any other reason, in words.
    Reason(String),
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

/// Finds the values at the end of `path` below `node`; what is missing is made first, of the kind
/// `create` and with this origin, unless that is `None`.
///
/// # Errors
/// Where a part does not fit what stands there, for a path of too many parts, and for a pattern that
/// is compared with what is not printed here.
pub(super) fn find(
    node: &mut Node,
    path: &[String],
    create: Option<MadeKind>,
    origin: Origin,
) -> Result<Matched, Failure> {
    if path.len() > MAX_PATH {
        return Err(format!("the path has more than {MAX_PATH} parts").into());
    }
    let mut matcher = PathMatcher { create, origin, here: Location::new(), locations: Vec::new() };
    let count = matcher.walk(node, path)?;
    Ok(Matched { count, locations: matcher.locations })
}

struct PathMatcher {
    create: Option<MadeKind>,
    origin: Origin,
    /// Where the walk is.
    here: Location,
    locations: Vec<Location>,
}

impl PathMatcher {
    /// Walks `path` below `node` and returns how many values it leads to.
    fn walk(&mut self, node: &mut Node, path: &[String]) -> Result<usize, Failure> {
        let Some((part, rest)) = path.split_first() else {
            self.locations.push(self.here.clone());
            return Ok(1);
        };
        if node.is_null() && is_of_list(part) {
            // A null is a list without elements; those that kyaml adds to the null itself no output shows.
            let mut list = Node::seq(Vec::new(), node.origin);
            return find(&mut list, path, self.create, self.origin).map(|matched| matched.count);
        }
        if is_place(part) {
            return self.walk_place(node, part, rest);
        }
        if is_pattern(part) {
            return match Step::parse(part)? {
                Step::Match { field, value } => self.walk_matching(node, field, value, rest),
                _ => Err(format!("`{part}` must have the form [field=pattern]").into()),
            };
        }
        if part == "*" {
            let mut count = 0;
            for (place, item) in items_of(node)?.iter_mut().enumerate() {
                count += self.walk_child(place, item, rest)?;
            }
            return Ok(count);
        }
        self.walk_field(node, part, rest)
    }

    fn walk_child(
        &mut self,
        place: usize,
        child: &mut Node,
        rest: &[String],
    ) -> Result<usize, Failure> {
        self.here.push(place);
        let count = self.walk(child, rest);
        self.here.pop();
        count
    }

    /// The kind that a missing value must have so that the rest of the path leads on from it.
    fn kind_before(&self, rest: &[String]) -> Option<MadeKind> {
        let create = self.create?;
        Some(match rest.first().map(String::as_str) {
            None | Some("") => create,
            Some(next) if is_place(next) || is_pattern(next) => MadeKind::Seq,
            Some(_) => MadeKind::Map,
        })
    }

    fn walk_field(
        &mut self,
        node: &mut Node,
        name: &str,
        rest: &[String],
    ) -> Result<usize, Failure> {
        if node.is_null() {
            // A null is an object without fields; those that kyaml adds to the null itself no output shows.
            let mut map = Node::map(Map::new(), node.origin);
            let path: Vec<String> =
                std::iter::once(name.to_owned()).chain(rest.iter().cloned()).collect();
            return find(&mut map, &path, self.create, self.origin).map(|matched| matched.count);
        }
        let kind = self.kind_before(rest);
        let origin = self.origin;
        let found = kind_name(node);
        let Some(map) = node.as_map_mut() else {
            return Err(format!("a map must stand where `{name}` is looked up, not {found}").into());
        };
        if map.get(name).is_none() {
            let Some(kind) = kind else { return Ok(0) };
            map.push(name, kind.empty(origin));
        }
        let Some(place) = map.position(name) else { return Ok(0) };
        let field = &mut map.entries_mut()[place].value;
        match field.as_scalar() {
            Some(_) if !rest.is_empty() => self.walk_copy(field, rest),
            _ => self.walk_child(place, field, rest),
        }
    }

    /// The path leads into a text. kyaml walks a copy of what the text holds, so that nothing is
    /// changed by it.
    fn walk_copy(&self, field: &Node, rest: &[String]) -> Result<usize, Failure> {
        let text = field.as_text().map_or("", |text| text);
        let document =
            read::embedded_document(text, field.origin).map_err(|error| error.message)?;
        let Some(mut copy) = document else {
            return Err("a text that holds nothing has no fields".to_owned().into());
        };
        find(&mut copy, rest, self.create, self.origin).map(|matched| matched.count)
    }

    fn walk_place(
        &mut self,
        node: &mut Node,
        part: &str,
        rest: &[String],
    ) -> Result<usize, Failure> {
        let place: usize = part.parse().map_err(|_| format!("`{part}` is no place in a list"))?;
        let kind = self.kind_before(rest);
        let origin = self.origin;
        let items = items_of(node)?;
        if let Some(kind) = kind.filter(|_| items.len() == place) {
            items.push(kind.empty(origin));
        }
        let count = items.len();
        match items.get_mut(place) {
            Some(item) => self.walk_child(place, item, rest),
            None => Err(format!("the list has {count} elements, so none at place {place}").into()),
        }
    }

    fn walk_matching(
        &mut self,
        node: &mut Node,
        field: &str,
        pattern: &str,
        rest: &[String],
    ) -> Result<usize, Failure> {
        let regex = go_regexp::compile(pattern).map_err(|error| error.to_string())?;
        let count = self.visit_matching(node, field, &regex, rest)?;
        if count > 0 || self.create.is_none() {
            return Ok(count);
        }
        let items = items_of(node)?;
        items.push(made_element(field, pattern, self.origin));
        match self.visit_matching(node, field, &regex, rest)? {
            0 => Err(format!("an element made for `{pattern}` does not match it").into()),
            count => Ok(count),
        }
    }

    fn visit_matching(
        &mut self,
        node: &mut Node,
        field: &str,
        regex: &regex::Regex,
        rest: &[String],
    ) -> Result<usize, Failure> {
        let mut count = 0;
        for (place, item) in items_of(node)?.iter_mut().enumerate() {
            let value = if field.is_empty() { Some(&*item) } else { item.get(field) };
            let Some(value) = value else { continue };
            if !matches(value, regex)? {
                continue;
            }
            // An element that is the value itself ends the path.
            count += self.walk_child(place, item, if field.is_empty() { &[] } else { rest })?;
        }
        Ok(count)
    }
}

fn is_place(part: &str) -> bool {
    super::lookup::integer(part).is_some_and(|place| place >= 0)
}

fn is_pattern(part: &str) -> bool {
    part.starts_with('[') && part.ends_with(']')
}

/// Whether the part leads to elements of a list.
fn is_of_list(part: &str) -> bool {
    is_place(part) || is_pattern(part) || part == "*"
}

fn items_of(node: &mut Node) -> Result<&mut Vec<Node>, String> {
    let found = kind_name(node);
    node.as_seq_mut().ok_or_else(|| format!("a list must stand there, not {found}"))
}

fn made_element(field: &str, text: &str, origin: Origin) -> Node {
    let value = Node::untagged(text, origin);
    if field.is_empty() {
        return value;
    }
    let mut map = Map::new();
    map.push(field, value);
    Node::map(map, origin)
}

/// Whether a pattern fits a value, which kyaml prints for it with its comments.
fn matches(node: &Node, regex: &regex::Regex) -> Result<bool, Failure> {
    let unknown = Failure::Unsupported("a pattern in a path that is compared with such a value");
    let text = match &node.value {
        Value::Scalar(scalar) => scalar_text(scalar),
        Value::Map(_) | Value::Seq(_) => embedded_yaml::printed(node).ok_or(unknown)?,
    };
    Ok(match node.comment.as_deref() {
        None => regex.is_match(&text),
        Some(Comment::Behind(comment) | Comment::Closing(comment)) => {
            regex.is_match(&format!("{text} {comment}"))
        }
        Some(Comment::Around | Comment::Below) => return Err(Failure::Unsupported(AROUND)),
    })
}

const AROUND: &str = "a pattern in a path that is compared with a value between comments";

/// A scalar as YAML text.
fn scalar_text(scalar: &Scalar) -> String {
    let Scalar { text, style, tag, .. } = scalar;
    match style {
        Style::SingleQuoted => format!("'{}'", text.replace('\'', "''")),
        Style::DoubleQuoted => emit::double_quoted(text),
        Style::Plain | Style::Tagged if *tag == Tag::Null && text.is_empty() => "null".to_owned(),
        _ => text.trim().to_owned(),
    }
}
