//! One item of a file of changes, as the arguments of the command that makes the same change.

use clap::{ArgAction, Command};

use super::Reader;
use super::kinds::{self, ChangeKind};
use crate::change::Part;
use crate::error::{Error, codes};
use crate::hint;
use crate::yaml::{Kind, NodeId, Style};

/// The key that narrows a change to some of the overlays.
const OVERLAYS: &str = "overlays";
/// The key of the assignments of `field`, whose own value is the resource.
const ASSIGNMENTS: &str = "set";

impl Reader<'_> {
    /// The change of one item.
    pub(super) fn part(&self, item: NodeId) -> Result<Part, Error> {
        let pairs = self.pairs(item)?;
        let mut found = None;
        for (name, key, _) in &pairs {
            let Some(kind) = kinds::all().find(|kind| kind.name == *name) else { continue };
            if let Some(ChangeKind { name: other, .. }) = found.replace(kind) {
                return Err(self.wrong(*key, &format!("a second change beside `{other}`")));
            }
        }
        let Some(kind) = found else { return Err(self.no_kind(item, &pairs)) };
        let command = kind.command();
        let (mut options, mut positionals, mut overlays) = (Vec::new(), Vec::new(), Vec::new());
        for (name, key, value) in pairs {
            match name {
                OVERLAYS => overlays = self.values(value, false)?,
                _ if name == kind.name => {
                    positionals.splice(0..0, self.values(value, false)?).for_each(drop)
                }
                ASSIGNMENTS if kind.name == "field" => {
                    positionals.extend(self.values(value, true)?)
                }
                _ => options.extend(self.option(&command, (name, key, value))?),
            }
        }
        let (file, place) = (self.file.to_owned(), self.place(item));
        let change = change_of(&kind, command, options, positionals)
            .map_err(|error| error.at(place.clone()))?;
        let (line, column) = (place.line.unwrap_or(1), place.column.unwrap_or(1));
        Ok(Part { overlays, change, file, line, column })
    }

    fn no_kind(&self, item: NodeId, pairs: &[(&str, NodeId, NodeId)]) -> Error {
        let names: Vec<&str> = kinds::all().map(|kind| kind.name).collect();
        let message = format!("no change; a change is one of {}", names.join(", "));
        let at = pairs.first().map_or(item, |(_, key, _)| *key);
        let question =
            pairs.iter().find_map(|(name, ..)| hint::did_you_mean(name, names.iter().copied()));
        question.into_iter().fold(self.wrong(at, &message), Error::hint)
    }

    /// `maxSurge: 1` as `--max-surge=1`.
    fn option(
        &self,
        command: &Command,
        (name, key, value): (&str, NodeId, NodeId),
    ) -> Result<Vec<String>, Error> {
        let long = long_name(name);
        let known = command.get_arguments().find(|argument| argument.get_long() == Some(&long));
        let known = known.filter(|_| !ChangeKind::is_of_the_whole(&long) && camel(&long) == name);
        let Some(argument) = known else {
            let names: Vec<String> = option_names(command);
            let message = match names.as_slice() {
                [] => format!("`{name}` is no key of `{}`", command.get_name()),
                names => {
                    let names = names.join(", ");
                    format!("`{name}` is no key of `{}`; those are {names}", command.get_name())
                }
            };
            return Err(self.wrong(key, &message));
        };
        if matches!(argument.get_action(), ArgAction::SetTrue) {
            return match self.tree.node(value).scalar() {
                Some("true") => Ok(vec![format!("--{long}")]),
                Some("false") => Ok(Vec::new()),
                _ => Err(self.wrong(value, &format!("`{name}` is true or false"))),
            };
        }
        Ok(self.values(value, false)?.into_iter().map(|text| format!("--{long}={text}")).collect())
    }

    /// A text, a list of texts, or `NAME: VALUE` as `NAME=VALUE`; `typed` keeps a quoted value a text.
    fn values(&self, node: NodeId, typed: bool) -> Result<Vec<String>, Error> {
        match &self.tree.node(node).kind {
            Kind::Seq { .. } => {
                let items = self.tree.items(node).iter();
                items.map(|item| self.text(self.tree.target(*item), false)).collect()
            }
            Kind::Map { .. } => {
                let pairs = self.pairs(node)?.into_iter();
                pairs
                    .map(|(name, _, value)| Ok(format!("{name}={}", self.text(value, typed)?)))
                    .collect()
            }
            _ if self.tree.node(node).is_absent() => Ok(Vec::new()),
            _ => Ok(vec![self.text(node, false)?]),
        }
    }

    fn text(&self, node: NodeId, typed: bool) -> Result<String, Error> {
        let found = self.tree.node(node);
        let text = found.scalar().filter(|_| !found.is_absent());
        let text = text.ok_or_else(|| self.wrong(node, "not a text or number"))?;
        let is_text = typed && found.style().is_some_and(|style| style != Style::Plain);
        Ok(if is_text { serde_json::Value::from(text).to_string() } else { text.to_owned() })
    }
}

fn change_of(
    kind: &ChangeKind,
    command: Command,
    mut arguments: Vec<String>,
    positionals: Vec<String>,
) -> Result<crate::change::Change, Error> {
    arguments.extend(["--".to_owned(), ".".to_owned()]);
    arguments.extend(positionals);
    let matches = command.try_get_matches_from(arguments).map_err(|error| {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default();
        Error::new(codes::USAGE, line.strip_prefix("error: ").unwrap_or(line))
    })?;
    (kind.change)(&matches)
}

/// The keys beside the kind's own, as the file writes them.
pub(super) fn option_names(command: &Command) -> Vec<String> {
    let longs = command.get_arguments().filter_map(clap::Arg::get_long);
    longs.filter(|long| !ChangeKind::is_of_the_whole(long)).map(camel).collect()
}

/// `max-surge` as `maxSurge`.
fn camel(long: &str) -> String {
    let mut words = long.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        name + &head.to_uppercase() + rest
    })
}

/// `maxSurge` as `max-surge`.
fn long_name(name: &str) -> String {
    let letter = |c: char| match c.is_ascii_uppercase() {
        true => format!("-{}", c.to_ascii_lowercase()),
        false => c.to_string(),
    };
    name.chars().map(letter).collect()
}
