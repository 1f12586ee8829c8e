//! Edits of documents of every layout: minimal or refused, and read by another parser as intended.

use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::corpus::{Verdict, judge};
use super::model;
use crate::support::random::Random;

/// A value and how its place in the text looks.
#[derive(Clone, Debug)]
struct Written {
    shape: Shape,
    layout: Layout,
}

#[derive(Clone, Debug)]
enum Shape {
    /// Text that is YAML as it stands, in block and in flow.
    Scalar(&'static str),
    /// A literal or folded block: header and lines.
    Block(&'static str, Vec<&'static str>),
    Seq(Vec<Written>),
    Map(Vec<(&'static str, Written)>),
}

#[derive(Clone, Debug)]
struct Layout {
    flow: bool,
    /// Blanks in front of what is inside, below the parent.
    indent: usize,
    /// Blanks behind a dash or a colon.
    gap: usize,
    comment_above: bool,
    comment_behind: bool,
    blank_above: bool,
    /// The content of an item on the line below its dash.
    below: bool,
}

const SCALARS: [&str; 16] = [
    "a",
    "'a b'",
    "\"a\\tb\"",
    "1",
    "",
    "~",
    "true",
    "sha256:00",
    "\"\"",
    "a b",
    "'it''s'",
    "v1.2",
    "http://x/y",
    "\"1.10\"",
    "é",
    "x#y",
];
const KEYS: [&str; 8] = ["name", "newTag", "'q'", "\"d e\"", "images", "a-b", "patch", "z"];
const HEADERS: [&str; 6] = ["|", "|-", "|+", ">", ">-", ">+"];
const LINES: [&str; 7] = ["a: 1", "# no comment", "", "  deeper", "- x", "text ", "b: {c: d}"];

fn layout() -> impl Strategy<Value = Layout> {
    let flags = (
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.2),
    );
    (flags, prop::bool::weighted(0.1), 0..4usize, 1..3usize).prop_map(
        |((flow, comment_above, comment_behind, blank_above), below, indent, gap)| Layout {
            flow,
            indent,
            gap,
            comment_above,
            comment_behind,
            blank_above,
            below,
        },
    )
}

fn written() -> impl Strategy<Value = Written> {
    let lines = vec(prop::sample::select(LINES.as_slice()), 1..4);
    let leaf = prop_oneof![
        4 => prop::sample::select(SCALARS.as_slice()).prop_map(Shape::Scalar),
        1 => (prop::sample::select(HEADERS.as_slice()), lines).prop_map(|(h, l)| Shape::Block(h, l)),
    ];
    let leaf = (leaf, layout()).prop_map(|(shape, layout)| Written { shape, layout });
    leaf.prop_recursive(4, 24, 4, |inner| {
        let keys = prop::sample::subsequence(KEYS.as_slice(), 1..4);
        let shape = prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Shape::Seq),
            (keys, vec(inner, 4)).prop_map(|(k, v)| Shape::Map(k.into_iter().zip(v).collect())),
        ];
        (shape, layout()).prop_map(|(shape, layout)| Written { shape, layout })
    })
}

impl Written {
    fn is_flow(&self) -> bool {
        match &self.shape {
            Shape::Seq(items) => self.layout.flow || items.is_empty(),
            Shape::Map(_) => self.layout.flow,
            _ => true,
        }
    }

    fn flow(&self) -> String {
        match &self.shape {
            Shape::Scalar("") | Shape::Block(..) => "null".to_owned(),
            Shape::Scalar(text) => (*text).to_owned(),
            Shape::Seq(items) => {
                format!("[{}]", items.iter().map(Written::flow).collect::<Vec<_>>().join(", "))
            }
            Shape::Map(pairs) => {
                let pairs: Vec<String> =
                    pairs.iter().map(|(k, v)| format!("{k}: {}", v.flow())).collect();
                format!("{{{}}}", pairs.join(", "))
            }
        }
    }

    fn above(&self, column: usize, out: &mut Vec<String>) {
        if self.layout.blank_above {
            out.push(String::new());
        }
        if self.layout.comment_above {
            out.push(format!("{}# above", " ".repeat(column)));
        }
    }

    /// What follows a key or dash on its line, and the lines below.
    fn behind(&self, column: usize, below: usize, out: &mut Vec<String>) {
        let comment = if self.layout.comment_behind { " # behind" } else { "" };
        let line = out.last_mut().unwrap();
        let gap = " ".repeat(self.layout.gap);
        match &self.shape {
            Shape::Block(header, lines) => {
                line.push_str(&format!("{gap}{header}{comment}"));
                let indent = " ".repeat(column + 2);
                let first = lines.iter().find(|l| !l.is_empty());
                let lines = if first.is_some_and(|l| l.starts_with(' ')) {
                    &["plain"][..]
                } else {
                    &lines[..]
                };
                out.extend(
                    lines
                        .iter()
                        .map(|l| if l.is_empty() { String::new() } else { format!("{indent}{l}") }),
                );
            }
            _ if self.is_flow() => {
                let text = self.inline();
                let gap = if text.is_empty() { "" } else { gap.as_str() };
                line.push_str(&format!("{gap}{text}{comment}"));
            }
            _ => {
                line.push_str(comment);
                self.block(below, out);
            }
        }
    }

    fn inline(&self) -> String {
        if let Shape::Scalar(text) = self.shape { text.to_owned() } else { self.flow() }
    }

    fn block(&self, column: usize, out: &mut Vec<String>) {
        let indent = " ".repeat(column);
        match &self.shape {
            Shape::Seq(items) => items.iter().for_each(|item| {
                item.above(column, out);
                item.item(column, out);
            }),
            Shape::Map(pairs) => pairs.iter().for_each(|(key, value)| {
                value.above(column, out);
                out.push(format!("{indent}{key}:"));
                value.behind(column, value.below(column), out);
            }),
            _ => out.push(format!("{indent}{}", self.flow())),
        }
    }

    fn below(&self, column: usize) -> usize {
        match self.shape {
            Shape::Seq(_) => column + self.layout.indent,
            _ => column + self.layout.indent.max(1),
        }
    }

    fn item(&self, column: usize, out: &mut Vec<String>) {
        let indent = " ".repeat(column);
        let inner = column + 1 + self.layout.gap;
        if self.is_flow() || self.layout.below {
            out.push(format!("{indent}-"));
            return self.behind(column, inner, out);
        }
        let mut lines = Vec::new();
        self.block(inner, &mut lines);
        match lines.iter().position(|l| !l.is_empty()) {
            Some(0) if !lines[0].trim_start().starts_with('#') => {
                let first = lines.remove(0);
                out.push(format!("{indent}-{}{}", " ".repeat(self.layout.gap), first.trim_start()));
            }
            _ => out.push(format!("{indent}-")),
        }
        out.append(&mut lines);
    }
}

fn text(root: &Written, crlf: bool, open: bool, mark: bool, start: bool, tail: bool) -> String {
    let mut lines = Vec::new();
    if start {
        lines.extend(["# head".to_owned(), "---".to_owned()]);
    }
    root.above(0, &mut lines);
    root.block(0, &mut lines);
    if tail {
        lines.extend(["# tail".to_owned(), "...".to_owned()]);
    }
    let eol = if crlf { "\r\n" } else { "\n" };
    let mut text = lines.join(eol);
    if !open {
        text.push_str(eol);
    }
    if mark { format!("\u{feff}{text}") } else { text }
}

#[test]
fn any_edit_of_any_document_is_minimal_or_refused() {
    let counts = RefCell::new(BTreeMap::<String, usize>::new());
    let config =
        ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() };
    let flags = any::<(bool, bool, bool, bool, bool)>();
    let outcome =
        TestRunner::new(config).run(&(written(), flags, any::<u32>()), |(root, flags, seed)| {
            let (crlf, open, mark, start, tail) = flags;
            let text = text(&root, crlf, open, mark, start, tail);
            // Some layouts are no YAML.
            let Ok(tree) = overlay::yaml::parse(&text) else {
                return Err(TestCaseError::reject("no YAML"));
            };
            for edit in model::edits(&tree, &mut Random::of_text(&seed.to_string()), 0) {
                let verdict = judge(&text, &edit);
                if let Verdict::Wrong(why) = verdict {
                    return Err(TestCaseError::fail(format!("{edit:?}\n{text}\n----\n{why}")));
                }
                if std::env::var("OVERLAY_TEST_SHOW")
                    .is_ok_and(|s| format!("{} {verdict:?}", edit.name()).contains(&s))
                {
                    eprintln!("SHOW {verdict:?} {edit:?}\n{text}\n==");
                }
                *counts.borrow_mut().entry(format!("{} {verdict:?}", edit.name())).or_default() +=
                    1;
            }
            Ok(())
        });
    counts.borrow().iter().for_each(|(what, count)| eprintln!("{count:6} {what}"));
    outcome.unwrap_or_else(|e| panic!("{e}"));
}

fn cases() -> u32 {
    std::env::var("OVERLAY_TEST_ROUNDS").ok().and_then(|r| r.parse::<u32>().ok()).unwrap_or(1) * 400
}
