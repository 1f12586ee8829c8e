//! The catalogue of error codes and `docs/errors.md` are one table.

use overlay::error::codes::CATALOGUE;

/// The table of `docs/errors.md`; run with `OVERLAY_BLESS=1` to write it.
#[test]
fn the_catalogue_is_the_page() {
    let mut table = String::from("| code | exit | meaning |\n|---|---|---|\n");
    for code in CATALOGUE {
        let (name, exit, meaning) = (code.name(), code.exit().status(), code.meaning());
        table.push_str(&format!("| `{name}` | {exit} | {} |\n", meaning.replace('|', "\\|")));
    }
    let page = std::fs::read_to_string("docs/errors.md").unwrap();
    let at = page.find("| code |").unwrap();
    if std::env::var("OVERLAY_BLESS").is_ok() {
        std::fs::write("docs/errors.md", format!("{}{table}", &page[..at])).unwrap();
        return;
    }
    assert_eq!(&page[at..], table, "run this test with OVERLAY_BLESS=1");
}

#[test]
fn codes_are_kebab_case_ordered_and_unique() {
    let keys: Vec<_> = CATALOGUE.iter().map(|code| (code.exit(), code.name())).collect();
    let mut sorted = keys.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(keys, sorted);
    for (_, name) in keys {
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
    }
}

#[test]
fn every_code_is_explained() {
    let repo = crate::support::repo::TestRepo::with_files(&[]);
    let ran = repo.overlay(&["explain", "build-broken"]);
    assert_eq!(ran.status, 0);
    assert!(ran.stdout.starts_with("build-broken (exit status 3)\nThe overlay"), "{ran:?}");
    let all = repo.overlay(&["explain"]);
    for id in ["pdb-blocks-drain (error)", "build-broken (exit status 3)"] {
        assert!(all.stdout.lines().any(|line| line.trim() == id), "{all:?}");
    }
    let ran = repo.overlay(&["explain", "build-borken", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (4, "no-such-code"));
    assert_eq!(ran.json()["error"]["hints"][0], "did you mean build-broken?");
}
