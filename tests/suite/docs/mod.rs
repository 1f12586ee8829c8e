//! The commands of the README and of `docs/` run, and print what the page says.
//!
//! `console` blocks run in a copy of `fixtures/overlays/lattice` that is a repository of its own, block after block
//! of one page in the same copy. `OVERLAY_BLESS=1` writes what was printed into the page, to be read before it is
//! committed.

mod commands;

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::repo::TestRepo;

const FIXTURE: &str = "fixtures/overlays/lattice";
/// The cluster of pages that look at one, as `now.json`.
const DUMP: &str = "fixtures/drain/node-flavour.json";

/// A command line as a shell splits it, for the quotes that the pages use.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut started) = (Vec::new(), String::new(), None, false);
    for c in line.chars() {
        match (quote, c) {
            (Some(q), _) if c == q => quote = None,
            (None, '\'' | '"') => (quote, started) = (Some(c), true),
            (None, ' ') if started => {
                words.push(std::mem::take(&mut word));
                started = false;
            }
            (None, ' ') => {}
            _ => {
                word.push(c);
                started = true;
            }
        }
    }
    words.extend(started.then_some(word));
    words
}

/// The page with each `$ overlay …` of its `console` blocks followed by what it prints.
fn printed(page: &str, repo: &TestRepo) -> (String, usize) {
    let (mut out, mut in_console, mut skipping, mut count) = (String::new(), false, false, 0);
    for line in page.lines() {
        if line.starts_with("```") {
            in_console = line == "```console";
            skipping = false;
        }
        if in_console && let Some(command) = line.strip_prefix("$ overlay ") {
            let args = split(command);
            let ran = repo.overlay(&args.iter().map(String::as_str).collect::<Vec<_>>());
            out.push_str(&format!("{line}\n{}{}", ran.stdout, ran.stderr));
            (skipping, count) = (true, count + 1);
        } else if !skipping {
            out.push_str(&format!("{line}\n"));
        }
    }
    (out, count)
}

fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir("docs").unwrap().map(|e| e.unwrap().path());
    let mut pages: Vec<_> = docs.filter(|p| p.extension().is_some_and(|e| e == "md")).collect();
    pages.push("README.md".into());
    pages.sort();
    pages
}

/// The page whose commands need a forge: `pull_request::walk` runs them.
const WALK: &str = "docs/walk.md";

#[test]
fn examples_print_what_the_pages_say() {
    let mut commands = 0;
    for path in pages().into_iter().filter(|path| path != Path::new(WALK)) {
        let page = fs::read_to_string(&path).unwrap();
        let repo = TestRepo::from_folder(Path::new(FIXTURE));
        if page.contains("--from now.json") {
            repo.write("now.json", &fs::read_to_string(DUMP).unwrap());
        }
        let (now, count) = printed(&page, &repo);
        commands += count;
        if std::env::var("OVERLAY_BLESS").is_ok() {
            fs::write(&path, now).unwrap();
        } else {
            let differs = page.lines().zip(now.lines()).find(|(page, now)| page != now);
            let path = path.display();
            assert!(page == now, "{path}: {differs:?}\nrun this test with OVERLAY_BLESS=1");
        }
    }
    assert!(commands >= 3, "only {commands} commands found");
}

/// The first of the two commands: as printed, but with the binary under test instead of a build of it.
#[test]
fn the_first_command_pins_the_fixture_and_writes_nothing() {
    let readme = fs::read_to_string("README.md").unwrap();
    let line =
        readme.lines().find_map(|l| l.strip_prefix("cargo run --release --quiet -- ")).unwrap();
    let repo = TestRepo::with_files(&[]);
    for file in walk(Path::new(FIXTURE)) {
        repo.write(file.to_str().unwrap(), &fs::read_to_string(&file).unwrap());
    }
    repo.commit("fixture");
    let args = split(line);
    let ran = repo.overlay(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(ran.status, 0, "{ran:?}");
    for digest in ["4d0f0e8a", "91c3d5e7", "2b4d6f80", "7e8f9a0b"] {
        assert!(ran.stdout.contains("+ registry.lattice.example/"), "{ran:?}");
        assert!(ran.stdout.contains(&format!("@sha256:{digest}")), "{digest}: {ran:?}");
    }
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

fn walk(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    entries.flat_map(|p| if p.is_dir() { walk(&p) } else { vec![p] }).collect()
}

/// The index of the book leads to every page and every schema.
#[test]
fn the_book_lists_every_page() {
    let index = fs::read_to_string("docs/README.md").unwrap();
    for entry in fs::read_dir("docs").unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_listed = name == "README.md" || index.contains(&format!("]({name})"));
        assert!(is_listed, "docs/README.md does not lead to {name}");
    }
}

/// Every relative link of the pages leads to a file of the repository.
#[test]
fn links_lead_somewhere() {
    let mut pages = pages();
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"] {
        pages.push(page.into());
    }
    let mut broken = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for (_, rest) in text.match_indices("](").map(|(at, m)| (at, &text[at + m.len()..])) {
            let target = rest.split([')', '#']).next().unwrap_or_default();
            let is_local = !target.is_empty() && !target.contains("://") && !target.contains(' ');
            if is_local && !page.parent().unwrap().join(target).exists() {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// `docs/cli.md` has the help of every command.
#[test]
fn every_command_is_in_the_reference() {
    let page = fs::read_to_string("docs/cli.md").unwrap();
    let help = TestRepo::with_files(&[]).overlay(&["--help"]).stdout;
    let commands = help.lines().skip_while(|l| *l != "Commands:").skip(1);
    let is_name = |l: &&str| l.starts_with("  ") && !l.starts_with("   ");
    let is_page = |l: &&str| is_name(l) && !l.starts_with("  help ");
    for line in commands.take_while(|l| !l.is_empty()).filter(is_page) {
        let name = line.split_whitespace().next().unwrap();
        assert!(page.contains(&format!("$ overlay {name} ")), "docs/cli.md lacks {name}");
    }
}
