//! Every overlay of the corpus in `../shared` builds to the bytes that a real kustomize printed for it.

use std::fs;
use std::path::Path;

use overlay::discover::DiskFiles;
use overlay::kustomize::{SourceTree, build};

use crate::support;

/// The overlays of `expected.tsv`.
fn overlays(corpus: &Path) -> Vec<String> {
    let table = fs::read_to_string(corpus.join("expected.tsv")).unwrap();
    let names = table.lines().skip(1).filter_map(|line| line.split('\t').next());
    names.map(str::to_owned).collect()
}

fn built(corpus: &Path, overlay: &str) -> Result<String, String> {
    let files = DiskFiles::new(corpus).map_err(|error| error.to_string())?;
    let tree = SourceTree::load(&files, overlay).map_err(|error| error.to_string())?;
    let rendered = build(&tree, overlay).map_err(|error| error.to_string())?;
    rendered.to_yaml().map_err(|error| error.to_string())
}

#[test]
fn every_overlay_of_the_corpus_is_byte_identical() {
    let Some(shared) = support::shared() else { return };
    let corpus = shared.join("corpus");
    let overlays = overlays(&corpus);
    assert_eq!(overlays.len(), 120);
    let mut wrong = Vec::new();
    for overlay in &overlays {
        let expected =
            fs::read_to_string(corpus.join("expected").join(format!("{overlay}.yaml"))).unwrap();
        match built(&corpus, overlay) {
            Ok(ours) if ours == expected => {}
            Ok(_) => wrong.push(format!("{overlay}: differs")),
            Err(error) => wrong.push(format!("{overlay}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{} of 120:\n{}", wrong.len(), wrong.join("\n"));
}
