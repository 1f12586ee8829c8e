//! A random sequence of edits over a random overlay, each proven by the program, ends in the render that
//! setting the same values on the original render gives.
//!
//! The oracle is a kustomize that is not ours, and another YAML library that reads and writes the values.
//! `OVERLAY_SEQUENCES` says how many sequences run, `OVERLAY_SEQUENCE` names the seed of a single one.

mod edits;
mod overlay;

use yaml_serde::{Mapping, Value};

use crate::support::random::Random;
use crate::support::repo::TestRepo;
use crate::support::{Judge, judge};
use edits::Edit;
use overlay::{OVERLAY, random_overlay};

/// Edits of one sequence.
const LENGTH: usize = 6;

/// Sequences of a plain run.
const SEQUENCES: u64 = 8;

#[test]
fn a_sequence_of_edits_is_their_values_on_the_first_render() {
    let Some(judge) = judge() else { return };
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("OVERLAY_SEQUENCE") {
        Some(seed) => seed..seed + 1,
        None => 0..number("OVERLAY_SEQUENCES").unwrap_or(SEQUENCES),
    };
    let (mut made, mut refused) = (0, Vec::new());
    for seed in seeds {
        let mut random = Random::new(seed);
        let repo = random_overlay(&mut random);
        let mut wanted = rendered(&judge, &repo).unwrap_or_else(|error| panic!("{seed}: {error}"));
        for step in 0..LENGTH {
            let edit = Edit::random(&mut random, &wanted);
            let at = format!("seed {seed}, step {step}: {:?}", edit.arguments());
            match apply(&repo, &edit, &at) {
                Ok(()) => edit.apply(&mut wanted),
                Err(reason) => refused.push(format!("{at}: {reason}")),
            }
            let found = rendered(&judge, &repo).unwrap_or_else(|error| panic!("{at}: {error}"));
            let (found, expected) = (normal(&found), normal(&wanted));
            assert!(found == expected, "{at}\n{}", difference(&expected, &found));
            made += 1;
        }
    }
    assert!(refused.len() * 20 <= made, "{} of {made} refused: {refused:#?}", refused.len());
}

/// Makes the edit; a refusal leaves every file as it was.
fn apply(repo: &TestRepo, edit: &Edit, at: &str) -> Result<(), String> {
    let before = repo.git(&["diff", "HEAD"]);
    let arguments = edit.arguments();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(["-o", "json"]).collect();
    let ran = repo.overlay(&arguments);
    match ran.status {
        0 => {
            let again = repo.overlay(&arguments);
            assert_eq!(
                (again.status, &again.json()["changed"]),
                (0, &false.into()),
                "{at}: {again:?}"
            );
            Ok(())
        }
        3 => {
            assert_eq!(repo.git(&["diff", "HEAD"]), before, "{at}: refused, and written");
            Err(ran.json()["error"].to_string())
        }
        _ => panic!("{at}: {ran:?}"),
    }
}

/// The judge's render, by another YAML library.
fn rendered(judge: &Judge, repo: &TestRepo) -> Result<Vec<Value>, String> {
    let text = judge.build(&repo.path().join(OVERLAY))?;
    text.split("\n---\n").map(|one| yaml_serde::from_str(one).map_err(|e| e.to_string())).collect()
}

/// In the order of kind and name, without nulls and what is empty.
fn normal(documents: &[Value]) -> Vec<Value> {
    let mut documents: Vec<Value> = documents.iter().filter_map(filled).collect();
    documents.sort_by_key(|document| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&document["kind"]), text(&document["metadata"]["name"]))
    });
    documents
}

fn filled(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Mapping(map) => {
            let mut pairs: Vec<(&Value, Value)> =
                map.iter().filter_map(|(key, value)| Some((key, filled(value)?))).collect();
            pairs.sort_by_key(|(key, _)| key.as_str().unwrap_or_default().to_owned());
            let map: Mapping = pairs.into_iter().map(|(key, value)| (key.clone(), value)).collect();
            (!map.is_empty()).then_some(Value::Mapping(map))
        }
        Value::Sequence(items) => {
            let items: Vec<Value> = items.iter().filter_map(filled).collect();
            (!items.is_empty()).then_some(Value::Sequence(items))
        }
        other => Some(other.clone()),
    }
}

fn difference(expected: &[Value], found: &[Value]) -> String {
    let differs = expected.iter().zip(found).find(|(a, b)| a != b);
    let text = |value: &Value| yaml_serde::to_string(value).unwrap();
    match differs {
        Some((a, b)) => format!("wanted\n{}\nfound\n{}", text(a), text(b)),
        None => format!("{} objects wanted, {} found", expected.len(), found.len()),
    }
}
