//! Compares the own build with kustomize.
//!
//!     differential fuzz --judge ../judge/judge [--seed N] [--start N] [--count N] [--jobs N]
//!                       [--write DIRECTORY] [--most N]
//!     differential show --seed N --start N
//!     differential corpus --judge ../judge/judge DIRECTORY
//!     differential tree --judge ../judge/judge DIRECTORY
//!     differential fixtures DIRECTORY
//!
//! `fuzz` builds random overlays on both sides. A difference is made small and, with `--write`,
//! becomes a case folder there (the layout of `fixtures/build`). It ends with 1 where any was found.
//! `show` prints the files of one random overlay. `corpus` builds every overlay that
//! `DIRECTORY/expected.tsv` names, `tree` every directory with a kustomization file. `fixtures` lists the
//! case folders (`fixtures/build`) that differ.

mod case;
mod corpus;
mod fixtures;
mod fuzz;
mod grammar;
mod judge;
mod minimise;
mod ours;
mod random;

use std::collections::HashMap;
use std::process::ExitCode;

/// The options of the command line: `--name value` pairs, and the rest in order.
struct Options {
    named: HashMap<String, String>,
    rest: Vec<String>,
}

impl Options {
    fn parse(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut named, mut rest) = (HashMap::new(), Vec::new());
        let mut words = words;
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                Some(name) => {
                    let value = words.next().ok_or_else(|| format!("--{name} needs a value"))?;
                    named.insert(name.to_owned(), value);
                }
                None => rest.push(word),
            }
        }
        Ok(Self { named, rest })
    }

    fn number(&self, name: &str, default: u64) -> Result<u64, String> {
        match self.named.get(name) {
            Some(text) => text.parse().map_err(|e| format!("--{name} {text}: {e}")),
            None => Ok(default),
        }
    }

    fn text(&self, name: &str) -> Result<String, String> {
        self.named.get(name).cloned().ok_or_else(|| format!("--{name} is needed"))
    }
}

fn run() -> Result<bool, String> {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_default();
    let options = Options::parse(words)?;
    match command.as_str() {
        "fuzz" => fuzz::run(&fuzz::Plan {
            judge: options.text("judge")?.into(),
            seed: options.number("seed", 1)?,
            start: options.number("start", 0)?,
            count: options.number("count", 10_000)?,
            jobs: options.number("jobs", 1)?,
            write: options.named.get("write").map(Into::into),
            most: options.number("most", 20)?,
        }),
        "show" => {
            let case = grammar::overlay(options.number("seed", 1)?, options.number("start", 0)?);
            for (path, text) in &case.files {
                println!("=== {path}\n{text}");
            }
            Ok(true)
        }
        "corpus" => {
            let folder = options.rest.first().ok_or("the corpus folder is needed")?;
            corpus::run(options.text("judge")?.as_ref(), folder.as_ref())
        }
        "tree" => {
            let folder = options.rest.first().ok_or("the folder is needed")?;
            corpus::tree(options.text("judge")?.as_ref(), folder.as_ref())
        }
        "fixtures" => fixtures::run(options.rest.first().ok_or("the folder is needed")?.as_ref()),
        other => Err(format!("unknown command {other:?}: fuzz, show, corpus, tree or fixtures")),
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(words) => {
            eprintln!("differential: {words}");
            ExitCode::from(2)
        }
    }
}
