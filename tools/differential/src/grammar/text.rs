//! YAML texts in random layouts: block or flow, lists indented or not, comments.

use crate::random::Random;

/// A value as it is written, not as it is meant: scalars carry their quotes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// A scalar of one line, written as it stands.
    Scalar(String),
    /// A block scalar: its header (`|`, `>-`, …) and its lines.
    Block(&'static str, Vec<String>),
    /// A sequence.
    List(Vec<Value>),
    /// A mapping; keys are written as they stand.
    Map(Vec<(String, Value)>),
}

/// A scalar.
pub(crate) fn s(text: impl Into<String>) -> Value {
    Value::Scalar(text.into())
}

/// A mapping of these entries.
pub(crate) fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// A text in double quotes, escaped.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

impl Value {
    /// Adds an entry to a mapping; anything else stays as it is.
    pub(crate) fn put(&mut self, key: &str, value: Value) {
        if let Value::Map(entries) = self {
            entries.push((key.to_owned(), value));
        }
    }

    /// The value of `key` in a mapping.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(entries) => entries.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    fn is_flow_safe(&self) -> bool {
        match self {
            // A plain scalar may hold what ends it inside brackets.
            Value::Scalar(text) => {
                text.starts_with(['"', '\''])
                    || !text.contains([',', '[', ']', '{', '}', '?', '#', ':'])
            }
            Value::Block(..) => false,
            Value::List(items) => items.iter().all(Value::is_flow_safe),
            Value::Map(entries) => entries.iter().all(|(_, v)| v.is_flow_safe()),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Value::List(items) => items.is_empty(),
            Value::Map(entries) => entries.is_empty(),
            _ => false,
        }
    }

    /// The document, ending in a line feed.
    pub(crate) fn document(&self, random: &mut Random) -> String {
        let mut writer = Writer {
            out: String::new(),
            indented_lists: random.chance(30),
            comments: *random.pick(&[0, 10, 10, 10, 10, 10, 60, 200]),
            anchors: random.chance(6).then(Anchors::default),
            is_behind_dash: false,
            random,
        };
        writer.block(self, 0);
        writer.out
    }

    /// The value on one line.
    pub(crate) fn flow(&self) -> String {
        match self {
            Value::Scalar(text) => text.clone(),
            Value::Block(_, lines) => quoted(&lines.join("\n")),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(Value::flow).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Map(entries) => {
                let entries: Vec<String> =
                    entries.iter().map(|(k, v)| format!("{k}: {}", v.flow())).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }
}

/// What aliases may stand for.
#[derive(Default)]
struct Anchors {
    scalars: usize,
    /// Mappings that are written to their end.
    maps: Vec<usize>,
    next_map: usize,
}

struct Writer<'r> {
    out: String,
    indented_lists: bool,
    /// How many lines in a thousand end in a comment; as many have one above them, but for the usual
    /// few.
    comments: usize,
    anchors: Option<Anchors>,
    /// Whether the next entry begins behind a dash.
    is_behind_dash: bool,
    random: &'r mut Random,
}

/// Comments; some look like what paths seek.
const COMMENTS: &[&str] = &["# c", "# web", "#", "# a: b", "#x", "# - app"];

impl Writer<'_> {
    /// A collection on lines of its own, each indented by `indent`.
    fn block(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Map(entries) if !entries.is_empty() => {
                self.merge_key(indent);
                for (key, value) in entries {
                    self.comment_above(indent);
                    self.pad(indent);
                    self.out.push_str(key);
                    self.out.push(':');
                    self.after_key(value, indent);
                }
            }
            Value::List(items) if !items.is_empty() => {
                for item in items {
                    self.comment_above(indent);
                    self.pad(indent);
                    self.item(item, indent);
                }
            }
            other => {
                self.pad(indent);
                self.out.push_str(&other.flow());
                self.out.push('\n');
            }
        }
    }

    fn after_key(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Block(header, lines) => self.scalar_block(header, lines, indent),
            Value::Scalar(text) => {
                let text = self.anchored(text);
                if !text.is_empty() {
                    self.out.push(' ');
                    self.out.push_str(&text);
                }
                self.end_line();
            }
            nested if nested.is_empty() || self.wants_flow(nested) => {
                self.out.push(' ');
                self.out.push_str(&nested.flow());
                self.end_line();
            }
            Value::List(_) => {
                self.end_line();
                self.block(value, if self.indented_lists { indent + 2 } else { indent });
            }
            Value::Map(_) => {
                let anchor = self.map_anchor();
                self.end_line();
                self.block(value, indent + 2);
                if let Some(anchors) = &mut self.anchors {
                    anchors.maps.extend(anchor);
                }
            }
        }
    }

    /// A scalar, perhaps with an anchor, or an alias in its place.
    fn anchored(&mut self, text: &str) -> String {
        let Some(anchors) = &mut self.anchors else { return text.to_owned() };
        if anchors.scalars > 0 && self.random.chance(6) {
            return format!("*s{}", self.random.below(anchors.scalars));
        }
        if self.random.chance(30) {
            anchors.scalars += 1;
            return format!("&s{} {text}", anchors.scalars - 1);
        }
        text.to_owned()
    }

    /// Writes an anchor of a mapping, sometimes, and returns its number.
    fn map_anchor(&mut self) -> Option<usize> {
        let anchors = self.anchors.as_mut().filter(|_| self.random.chance(30))?;
        anchors.next_map += 1;
        self.out.push_str(&format!(" &m{}", anchors.next_map));
        Some(anchors.next_map)
    }

    /// Writes a merge key, sometimes, where there is something to merge.
    fn merge_key(&mut self, indent: usize) {
        let maps = self.anchors.as_ref().map_or(&[][..], |anchors| &anchors.maps);
        if !maps.is_empty() && self.random.chance(20) {
            let line = format!("<<: *m{}\n", self.random.pick(maps));
            self.pad(indent);
            self.out.push_str(&line);
        }
    }

    fn item(&mut self, item: &Value, indent: usize) {
        self.out.push('-');
        match item {
            Value::Block(header, lines) => self.scalar_block(header, lines, indent),
            Value::Map(entries) if !entries.is_empty() && !self.wants_flow(item) => {
                let start = self.out.len();
                self.is_behind_dash = true;
                self.block(item, indent + 2);
                self.out.replace_range(start..start + indent + 2, " ");
            }
            Value::List(items) if !items.is_empty() && !self.wants_flow(item) => {
                self.end_line();
                self.block(item, indent + 2);
            }
            flat => {
                let text = flat.flow();
                if !text.is_empty() {
                    self.out.push(' ');
                    self.out.push_str(&text);
                }
                self.end_line();
            }
        }
    }

    fn scalar_block(&mut self, header: &str, lines: &[String], indent: usize) {
        self.out.push(' ');
        self.out.push_str(header);
        self.out.push('\n');
        for line in lines {
            if !line.is_empty() {
                self.pad(indent + 2);
                self.out.push_str(line);
            }
            self.out.push('\n');
        }
    }

    fn wants_flow(&mut self, value: &Value) -> bool {
        value.is_flow_safe() && self.random.chance(15)
    }

    fn pad(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    fn end_line(&mut self) {
        if self.random.rarely(self.comments) {
            let comment = self.random.word(COMMENTS);
            self.out.push(' ');
            self.out.push_str(&comment);
        }
        self.out.push('\n');
    }

    fn comment_above(&mut self, indent: usize) {
        let is_behind_dash = std::mem::take(&mut self.is_behind_dash);
        if !is_behind_dash && self.comments > 10 && self.random.rarely(self.comments) {
            let indent = if self.random.chance(80) { indent } else { self.random.below(9) };
            let comment = self.random.word(COMMENTS);
            self.pad(indent);
            self.out.push_str(&comment);
            self.out.push('\n');
            if self.random.chance(10) {
                self.out.push('\n');
            }
        }
    }
}
