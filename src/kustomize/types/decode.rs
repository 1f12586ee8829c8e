//! Reading a node into a typed object, by the rules of Go's `encoding/json` that kustomize reads
//! kustomization files with: keys match without regard to case, a null leaves the default, an
//! unknown key is an error, and nothing is converted from one type to another.

use std::fmt;
use std::ops::Deref;

use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Node, Scalar, Style, Tag, Text, Value};
use crate::kustomize::origin::Origin;
use crate::yaml::scalar::{Resolved, Rules, resolve};

/// A text of a kustomization file and where it stands.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Located {
    /// The text.
    pub text: Text,
    /// The file and line of the value.
    pub origin: Origin,
    /// How it is written.
    pub style: Style,
}

impl Located {
    /// Where the first line of the text stands; `None` where its lines are not those of the file
    /// (all but literal blocks).
    #[must_use]
    pub fn content_start(&self) -> Option<Origin> {
        (self.style == Style::Literal && self.origin.line > 0)
            .then(|| Origin::new(self.origin.file, self.origin.line + 1))
    }
}

impl Deref for Located {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.text)
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Keys and texts, sorted by key, each key once.
pub type StringMap = Vec<(Text, Located)>;

/// Where in the file a value stands, in words: `images[2].newTag`.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The document.
    Root,
    /// A document that is read into its type at once (sigs.k8s.io/yaml `UnmarshalStrict`): numbers and
    /// bools become strings where one is wanted.
    TypedRoot,
    /// As [`Path::TypedRoot`], and unknown fields do not matter (`Unmarshal`).
    LenientRoot,
    /// As [`Path::LenientRoot`] for a type whose fields are those of a type that is embedded in it:
    /// sigs.k8s.io/yaml knows no types of what is embedded, and nothing becomes a string.
    EmbeddedRoot,
    /// A field of an object.
    Field(&'a Path<'a>, &'a str),
    /// An item of a list.
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root | Self::TypedRoot | Self::LenientRoot | Self::EmbeddedRoot => Ok(()),
            Self::Field(parent, name) if parent.is_root() => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

impl Path<'_> {
    fn root(&self) -> &Self {
        match self {
            Self::Field(parent, _) | Self::Item(parent, _) => parent.root(),
            _ => self,
        }
    }

    fn is_root(&self) -> bool {
        !matches!(self, Self::Field(..) | Self::Item(..))
    }

    fn is_lenient(&self) -> bool {
        matches!(self.root(), Self::LenientRoot | Self::EmbeddedRoot)
    }

    /// Whether it is a field of a type that is embedded in another (`resid.Gvk`, and `resid.ResId` in
    /// selectors).
    fn is_embedded(&self) -> bool {
        const SELECTORS: [&str; 5] = ["reject", "select", "selector", "source", "target"];
        match self {
            Self::Field(_, "group" | "version" | "kind") => true,
            Self::Field(Self::Field(_, name) | Self::Item(Self::Field(_, name), _), field) => {
                matches!(*field, "name" | "namespace") && SELECTORS.contains(name)
            }
            _ => false,
        }
    }

    /// The text of `scalar` where a string is wanted; `None` where it is no string.
    fn string(&self, scalar: &Scalar) -> Option<Text> {
        if describe_scalar(scalar) == "a string" {
            return Some(Text::clone(&scalar.text));
        }
        if self.is_embedded() || matches!(self.root(), Self::Root | Self::EmbeddedRoot) {
            return None;
        }
        match resolve(&scalar.text, Rules::Kustomization) {
            Resolved::Bool(value) => Some(Text::from(value.to_string())),
            Resolved::Int(value) => Some(Text::from(value.to_string())),
            Resolved::Float(value) => Some(Text::from(crate::kustomize::build::float_text(value))),
            _ => None,
        }
    }
}

/// A type that is read from a node.
pub(crate) trait Decode: Sized + Default {
    /// Reads `node`, which is not null.
    ///
    /// # Errors
    /// [`BuildErrorKind::Kustomization`] with the place, what is there and what should be.
    fn decode(node: &Node, path: &Path<'_>) -> Result<Self, BuildError>;

    /// Reads `node`; null is the default.
    ///
    /// # Errors
    /// As [`Decode::decode`].
    fn decode_nullable(node: &Node, path: &Path<'_>) -> Result<Self, BuildError> {
        if node.is_null() { Ok(Self::default()) } else { Self::decode(node, path) }
    }

    /// What a null makes of a value that the same field had before, written in another case: lists, maps
    /// and what may be missing go, everything else stays.
    fn clear(&mut self) {}
}

/// An object: a type whose fields are read by name.
pub(crate) trait DecodeFields {
    /// Reads the field `name` if the object has it. `fold` says that case does not matter.
    ///
    /// # Errors
    /// As [`Decode::decode`].
    fn decode_field(
        &mut self,
        name: &str,
        matches: fn(&str, &str) -> bool,
        value: &Node,
        path: &Path<'_>,
    ) -> Result<bool, BuildError>;

    /// The names of all fields, for hints.
    fn field_names() -> Vec<&'static str>;
}

/// Reads all fields of a map into `object`.
///
/// # Errors
/// As [`Decode::decode`], and for a key that no field has.
pub(crate) fn decode_object<T: DecodeFields>(
    object: &mut T,
    node: &Node,
    path: &Path<'_>,
) -> Result<(), BuildError> {
    let Value::Map(map) = &node.value else {
        return Err(wrong_type(node, "an object", path));
    };
    // JSON gives them sorted, which decides between two that differ in case alone.
    let mut entries: Vec<_> = map.entries().iter().collect();
    entries.sort_by(|a, b| a.key.text.cmp(&b.key.text));
    for entry in entries {
        let name = &*entry.key.text;
        let field = Path::Field(path, name);
        let known = object.decode_field(name, |a, b| a == b, &entry.value, &field)?
            || object.decode_field(name, equal_fold, &entry.value, &field)?;
        if !known && !path.is_lenient() {
            return Err(unknown_field::<T>(name, entry.value.origin, &field));
        }
    }
    Ok(())
}

/// Go's `EqualFold` for field names, which are ASCII: two letters beyond ASCII fold into it.
fn equal_fold(field: &str, key: &str) -> bool {
    let fold = |c: char| match c {
        '\u{17F}' => 's',
        '\u{212A}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    field.chars().map(fold).eq(key.chars().map(fold))
}

fn unknown_field<T: DecodeFields>(name: &str, origin: Origin, path: &Path<'_>) -> BuildError {
    let names = T::field_names();
    let similar = names
        .iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .min()
        .filter(|(edits, candidate)| *edits <= candidate.len() / 3)
        .map(|(_, candidate)| format!("; did you mean \"{candidate}\"?"))
        .unwrap_or_default();
    let message = format!("{path}: unknown field \"{name}\"{similar}");
    BuildError::new(BuildErrorKind::Kustomization, message).at(origin)
}

/// The number of single-character edits between two names, without regard to case.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.chars().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[row.len() - 1]
}

/// The error for a value of another type than `expected`.
pub(crate) fn wrong_type(node: &Node, expected: &str, path: &Path<'_>) -> BuildError {
    let hint = match &node.value {
        Value::Scalar(scalar) if expected == "a string" => {
            format!("; write it in quotes: \"{}\"", scalar.text)
        }
        _ => String::new(),
    };
    let path = match path.to_string() {
        path if path.is_empty() => "the document".to_owned(),
        path => path,
    };
    let message = format!("{path}: {} where {expected} must be{hint}", describe(node));
    BuildError::new(BuildErrorKind::Kustomization, message).at(node.origin)
}

fn describe(node: &Node) -> &'static str {
    match &node.value {
        Value::Map(_) => "an object",
        Value::Seq(_) => "a list",
        Value::Scalar(scalar) => describe_scalar(scalar),
    }
}

fn describe_scalar(scalar: &Scalar) -> &'static str {
    match scalar.tag {
        Tag::Null => "null",
        Tag::Bool => "a bool",
        Tag::Int | Tag::Float => "a number",
        _ => "a string",
    }
}

impl Decode for Located {
    fn decode(node: &Node, path: &Path<'_>) -> Result<Self, BuildError> {
        match node.as_scalar().and_then(|scalar| Some((path.string(scalar)?, scalar.style))) {
            Some((text, style)) => Ok(Self { text, origin: node.origin, style }),
            None => Err(wrong_type(node, "a string", path)),
        }
    }
}

impl Decode for bool {
    fn decode(node: &Node, path: &Path<'_>) -> Result<Self, BuildError> {
        match node.as_scalar() {
            Some(scalar) if scalar.tag == Tag::Bool => {
                Ok(scalar.text.starts_with(['t', 'T', 'y', 'Y'])
                    || scalar.text.eq_ignore_ascii_case("on"))
            }
            _ => Err(wrong_type(node, "a bool", path)),
        }
    }
}

impl Decode for i64 {
    fn decode(node: &Node, path: &Path<'_>) -> Result<Self, BuildError> {
        node.as_scalar().and_then(integer).ok_or_else(|| wrong_type(node, "an integer", path))
    }
}

/// An integer, or a float without a fraction, which JSON prints as one.
fn integer(scalar: &Scalar) -> Option<i64> {
    if !matches!(scalar.tag, Tag::Int | Tag::Float) {
        return None;
    }
    match resolve(&scalar.text, Rules::Kustomization) {
        Resolved::Int(value) => i64::try_from(value).ok(),
        #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and in range")]
        Resolved::Float(value) if value.fract() == 0.0 && value.abs() < 9.2e18 => {
            Some(value as i64)
        }
        _ => None,
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(node: &Node, path: &Path<'_>) -> Result<Self, BuildError> {
        T::decode(node, path).map(Some)
    }

    fn clear(&mut self) {
        *self = None;
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &Node, path: &Path<'_>) -> Result<Self, BuildError> {
        let items = node.as_seq().ok_or_else(|| wrong_type(node, "a list", path))?;
        items
            .iter()
            .enumerate()
            .map(|(index, item)| T::decode_nullable(item, &Path::Item(path, index)))
            .collect()
    }

    fn clear(&mut self) {
        Vec::clear(self);
    }
}

/// A map of strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strings {
    /// The entries, sorted by key.
    pub entries: StringMap,
}

impl Deref for Strings {
    type Target = StringMap;

    fn deref(&self) -> &StringMap {
        &self.entries
    }
}

impl Strings {
    /// The value of `key`.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<&Located> {
        self.entries.iter().find(|entry| &*entry.0 == key).map(|entry| &entry.1)
    }
}

impl Decode for Strings {
    fn decode(node: &Node, path: &Path<'_>) -> Result<Self, BuildError> {
        let map = node.as_map().ok_or_else(|| wrong_type(node, "an object", path))?;
        let mut entries = StringMap::new();
        for entry in map.entries() {
            let field = Path::Field(path, &entry.key.text);
            let mut value = Located::decode_nullable(&entry.value, &field)?;
            value.origin = entry.value.origin;
            entries.push((Text::clone(&entry.key.text), value));
        }
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Self { entries })
    }

    fn clear(&mut self) {
        self.entries.clear();
    }
}

/// Declares an object of the kustomization file: its struct, with an `origin`, and how it is read.
macro_rules! object {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $( $(#[$field_meta:meta])* $field:ident : $type:ty = $key:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        $vis struct $name {
            $( $(#[$field_meta])* $vis $field: $type, )*
            /// The file and line it stands in.
            $vis origin: $crate::kustomize::origin::Origin,
        }

        impl $crate::kustomize::types::decode::DecodeFields for $name {
            fn decode_field(
                &mut self,
                name: &str,
                matches: fn(&str, &str) -> bool,
                value: &$crate::kustomize::node::Node,
                path: &$crate::kustomize::types::decode::Path<'_>,
            ) -> Result<bool, $crate::kustomize::error::BuildError> {
                $(
                    if matches($key, name) {
                        use $crate::kustomize::types::decode::Decode;
                        match value.is_null() {
                            true => Decode::clear(&mut self.$field),
                            false => self.$field = Decode::decode(value, path)?,
                        }
                        return Ok(true);
                    }
                )*
                Ok(false)
            }

            fn field_names() -> Vec<&'static str> {
                vec![$( $key, )*]
            }
        }

        impl $crate::kustomize::types::decode::Decode for $name {
            fn decode(
                node: &$crate::kustomize::node::Node,
                path: &$crate::kustomize::types::decode::Path<'_>,
            ) -> Result<Self, $crate::kustomize::error::BuildError> {
                let mut object = Self {
                    origin: node.origin,
                    ..Self::default()
                };
                $crate::kustomize::types::decode::decode_object(&mut object, node, path)?;
                Ok(object)
            }
        }
    };
}
pub(crate) use object;
