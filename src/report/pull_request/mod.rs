//! The body of a pull request: what changes in words, as tables, and hidden in it as data.
//!
//! The text comes from `templates/pull-request.md`, or from a template of the user's. Whatever a template prints is escaped as
//! Markdown, unless a filter of ours made it: nothing from a manifest becomes markup, a mention or a marker. Must not
//! know forges: it is told how long a body may be.

mod marker;
mod view;

pub use marker::{Marker, Scope, find_marker, replace_region};

use minijinja::{Environment, UndefinedBehavior};

use crate::report::change::OverlayReport;
use crate::report::markdown;
use view::View;

/// The template that is built in.
const TEMPLATE: &str = include_str!("../../../templates/pull-request.md");

/// The most items of each list; a body that is still too long gets half of them, and so on.
const MOST_ITEMS: usize = 200;

/// What a template may spend: far more than the built-in one needs for [`MOST_ITEMS`], and an end for one that would go on.
const FUEL: u64 = 2_000_000;

/// What a body is made of.
pub struct Proposal<'a> {
    /// The overlays with what changes in them, relative to the base branch.
    pub overlays: &'a [OverlayReport],
    /// The short name of the base branch.
    pub base: &'a str,
    /// The short name of the branch with the change.
    pub branch: &'a str,
    /// The title, in which the change stands in words.
    pub title: &'a str,
}

/// Why a template gives no body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// It is none, names something that there is not, or would go on without end.
    #[error("{message}")]
    Invalid {
        /// What is wrong.
        message: String,
        /// The line, from 1, where it is known.
        line: Option<usize>,
    },
    /// It gives more than the forge takes, without any list in it.
    #[error("the template gives {length} characters, and the forge takes {limit}")]
    TooLong {
        /// How many it gives.
        length: usize,
        /// How many may be.
        limit: usize,
    },
}

/// The body of a pull request of at most `limit` characters, with the marker around it.
///
/// # Errors
/// [`TemplateError`], for a template of the user's.
pub fn body(
    proposal: &Proposal<'_>,
    template: Option<&str>,
    marker: &Marker,
    limit: usize,
) -> Result<String, TemplateError> {
    let environment = markdown_environment();
    let source = template.unwrap_or(TEMPLATE);
    let template = environment.template_from_str(source).map_err(|e| invalid(&e))?;
    let mut items = MOST_ITEMS;
    loop {
        let view = View::of(proposal, items);
        let text = template.render(minijinja::value::Serde(&view)).map_err(|e| invalid(&e))?;
        let text = marker.around(text.trim());
        let length = text.chars().count();
        match items {
            _ if length <= limit => return Ok(text),
            0 => return Err(TemplateError::TooLong { length, limit }),
            _ => items /= 2,
        }
    }
}

/// What templates of Markdown are written in: all that is printed by `{{ … }}` is escaped.
pub(in crate::report) fn markdown_environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.add_filter("code", markdown::code_filter);
    environment.set_formatter(markdown::format);
    environment
}

fn invalid(error: &minijinja::Error) -> TemplateError {
    TemplateError::Invalid { message: error.to_string(), line: error.line() }
}
