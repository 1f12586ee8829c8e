//! Results as pages: one file of HTML each that stands by itself, without scripts and without network.
//!
//! The texts are in `templates/pages`; what a result shows is a view beside it (`check/page.rs`, …). Whatever a template prints
//! is escaped twice: characters that hide, reorder or control become visible, and what HTML would read becomes text, in
//! content and in quoted attributes alike. Must not know what a page is about.

pub(super) mod budget;
pub(super) mod node;

use std::fmt::Write as _;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{AutoEscape, Environment, Output, State, UndefinedBehavior};
use serde::Serialize;

use super::escape_control;
use crate::error::{Error, codes};

/// What is around every page.
const BASE: &str = include_str!("../../templates/pages/base.html");
/// The one style of all pages.
const STYLE: &str = include_str!("../../templates/pages/style.css");

/// What several pages have: the name by which a template includes it, and its text.
const PARTS: [(&str, &str); 4] = [
    ("budgets", include_str!("../../templates/pages/parts/budgets.html")),
    ("node", include_str!("../../templates/pages/parts/node.html")),
    ("notes", include_str!("../../templates/pages/parts/notes.html")),
    ("tiles", include_str!("../../templates/pages/parts/tiles.html")),
];

/// What a page is about, above its content.
#[derive(Serialize)]
pub(super) struct Head {
    /// The words of the command.
    pub(super) command: &'static str,
    /// The heading, and the title of the window.
    pub(super) title: String,
    /// One sentence that sums up.
    pub(super) lead: String,
    /// What it was made from.
    pub(super) basis: &'static str,
}

#[derive(Serialize)]
struct Base<'a> {
    #[serde(flatten)]
    head: &'a Head,
}

/// The page with `template`, filled from `view`, below `head`.
///
/// # Errors
/// [`codes::INTERNAL`] where a template and its view disagree.
pub(super) fn page(head: &Head, template: &str, view: &impl Serialize) -> Result<Vec<u8>, Error> {
    let internal = |error: minijinja::Error| {
        Error::new(codes::INTERNAL, format!("internal error: a page cannot be made: {error:#}"))
    };
    let render = || -> Result<String, minijinja::Error> {
        let mut environment = environment()?;
        let body = environment.render_str(template, Serde(view))?;
        environment.add_global("body", Value::from_safe_string(body));
        environment.add_global("style", Value::from_safe_string(STYLE.to_owned()));
        environment.render_str(BASE, Serde(&Base { head }))
    };
    render().map(String::into_bytes).map_err(internal)
}

fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(format);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    for (name, text) in PARTS {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

/// Prints a value of a template; what hides, reorders or controls is made visible before HTML is escaped.
fn format(out: &mut Output, state: &mut State, value: &Value) -> Result<(), minijinja::Error> {
    match value.as_str() {
        Some(text) if value.kind() == ValueKind::String && !value.is_safe() => {
            let visible = Value::from(escape_control(text).into_owned());
            minijinja::escape_formatter(out, state, &visible)
        }
        _ => minijinja::escape_formatter(out, state, value),
    }
}

/// A share of a whole as the percentage that a style takes, such as `33.33%`.
#[allow(clippy::cast_precision_loss, reason = "a share of what is drawn")]
pub(super) fn percent(part: u64, whole: u64) -> String {
    let share = if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 };
    let mut text = String::new();
    let _ = write!(text, "{:.2}%", share.clamp(0.0, 100.0));
    text
}

/// The least share of a bar, in hundredths, that a name is written into.
const NAMED_FROM: u64 = 6;
/// How many colours `style.css` has.
pub(super) const COLOURS: usize = 8;

/// A part of a bar.
#[derive(Serialize)]
pub(super) struct Part {
    name: String,
    class: String,
    width: String,
    amount: String,
    is_thin: bool,
}

impl Part {
    /// `part` of `whole`, in the colour of `class`; `amount` says how much that is.
    pub(super) fn new(name: &str, class: &str, (part, whole): (u64, u64), amount: String) -> Self {
        Self {
            name: name.to_owned(),
            class: class.to_owned(),
            width: percent(part, whole),
            amount,
            is_thin: part.saturating_mul(100) < whole.saturating_mul(NAMED_FROM),
        }
    }
}

/// Memory in GiB, to a hundredth.
#[allow(clippy::cast_precision_loss, reason = "memory of a node is far below 2^53 bytes")]
pub(super) fn gibibytes(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / f64::from(1 << 30))
}

/// Cores, to a hundredth.
#[allow(clippy::cast_precision_loss, reason = "cores of a node")]
pub(super) fn cores(millicores: u64) -> String {
    format!("{:.2}", millicores as f64 / 1000.0)
}

/// An address that a page may lead to: a web page and nothing that runs in this one.
pub(super) fn web_address(text: &str) -> Option<&str> {
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    let is_plain =
        text.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '"' | '\'' | '<' | '>'));
    (is_web && is_plain).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str =
        "\"><script>alert(1)</script><img src=x onerror='alert(2)'>\u{202e}\u{1b}[2J&amp;";

    #[test]
    fn what_is_printed_is_text_in_content_and_in_attributes() {
        let head = Head {
            command: "check",
            title: HOSTILE.to_owned(),
            lead: HOSTILE.to_owned(),
            basis: "git",
        };
        let view = std::collections::BTreeMap::from([("name", HOSTILE)]);
        let page = page(&head, "<p title=\"{{ name }}\">{{ name }}</p>", &view).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
        assert!(!page.contains(['\u{202e}', '\u{1b}']), "{page}");
        let shown = "&quot;&gt;&lt;script&gt;alert(1)&lt;&#x2f;script&gt;";
        // The title, the heading, the sentence, the attribute and its content.
        assert_eq!(page.matches(shown).count(), 5, "{page}");
        assert!(page.contains("\\u{202e}\\u{1b}[2J&amp;amp;"), "{page}");
    }

    #[test]
    fn only_addresses_of_web_pages_are_led_to() {
        for good in ["https://forge.example/o/r/pull/1", "http://h:80/x?y=1#z"] {
            assert_eq!(web_address(good), Some(good));
        }
        for bad in [
            "javascript:alert(1)",
            "JAVASCRIPT:x",
            "data:text/html,x",
            "#12",
            "//h",
            "https://h/\"x",
            "https://h/ x",
            "https://h/\u{202e}",
        ] {
            assert_eq!(web_address(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_share_is_within_its_whole() {
        assert_eq!(
            (percent(1, 3), percent(5, 4), percent(1, 0)),
            ("33.33%".into(), "100.00%".into(), "0.00%".into())
        );
    }
}
