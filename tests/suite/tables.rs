//! The tables of the build are what their program makes of the published schemas.
#![allow(clippy::disallowed_methods, reason = "the program that makes the tables is started")]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support;

#[test]
fn the_program_makes_the_tables_again() {
    let Some(shared) = support::shared() else { return };
    if !support::runs("python3", &["--version"]) {
        return support::skip("no python3");
    }
    let out = tempfile::tempdir().unwrap();
    let made = Command::new("python3")
        .arg("tools/tables/make_tables.py")
        .arg("--schemas")
        .arg(shared.join("schema"))
        .arg("--out")
        .arg(out.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for name in ["field_specs.rs", "field_types.rs", "merge_keys.rs"] {
        let here = fs::read_to_string(Path::new("src/kustomize/build/tables").join(name)).unwrap();
        let again = fs::read_to_string(out.path().join(name)).unwrap();
        assert!(here == again, "{name} is not what tools/tables/make_tables.py makes");
    }
}
