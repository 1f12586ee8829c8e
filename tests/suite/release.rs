//! Releases: which actions their workflow trusts, the names on which workflow, action and manifest agree, and krew's manifest.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a release has, by the names of `uname -m` and `uname -s` on each platform.
const ARCHIVES: [(&str, &str, &str); 4] = [
    ("linux", "amd64", "x86_64-linux"),
    ("linux", "arm64", "aarch64-linux"),
    ("darwin", "amd64", "x86_64-darwin"),
    ("darwin", "arm64", "arm64-darwin"),
];

fn workflows() -> Vec<PathBuf> {
    let mut files = vec![PathBuf::from("action.yml")];
    for folder in [".github/workflows", "templates/ci"] {
        files.extend(fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    }
    files
}

/// A tag can be moved to other code; a commit cannot.
#[test]
fn every_action_is_pinned_by_commit_with_its_version_beside() {
    let mut count = 0;
    for file in workflows() {
        for line in fs::read_to_string(&file).unwrap().lines() {
            let Some((_, used)) = line.split_once("uses: ") else { continue };
            let (action, version) = used.split_once(" # v").unwrap_or((used, ""));
            let commit = action.rsplit('@').next().unwrap();
            let is_pinned = commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
            assert!(is_pinned && !version.is_empty(), "{}: {line}", file.display());
            count += 1;
        }
    }
    assert!(count >= 8, "only {count} found");
}

/// Nothing but what a job names: no workflow starts with more rights than reading.
#[test]
fn workflows_begin_with_no_right_to_write() {
    for file in workflows().iter().filter(|file| !file.ends_with("action.yml")) {
        let text = fs::read_to_string(file).unwrap();
        let top = text.split("\njobs:").next().unwrap();
        assert!(!top.contains(": write"), "{}", file.display());
        if file.starts_with(".github") || text.contains("permissions") {
            assert!(top.contains("\npermissions:"), "{}", file.display());
        }
    }
}

#[test]
fn workflow_manual_and_manifest_name_the_same_archives() {
    let workflow = fs::read_to_string(".github/workflows/release.yml").unwrap();
    let named: BTreeSet<&str> = workflow
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- { runner: "))
        .map(|line| line.rsplit("name: ").next().unwrap().trim_end_matches(" }"))
        .collect();
    assert_eq!(named, ARCHIVES.iter().map(|(_, _, name)| *name).collect());
    let manual = fs::read_to_string("docs/install.md").unwrap();
    for (_, _, name) in ARCHIVES {
        assert!(manual.contains(&format!("`{name}`")), "docs/install.md lacks {name}");
    }
    // `action/install` asks for the archive of the machine that it runs on.
    let install = fs::read_to_string("action/install").unwrap();
    assert!(install.contains(r#"name="overlay-$OVERLAY_VERSION-$(uname -m)-$(uname -s | tr '[:upper:]' '[:lower:]').tar.gz""#));
}

/// An archive has the completions of each shell and every page that a page of the manual refers to.
#[test]
fn an_archive_has_completions_and_the_whole_manual() {
    let folder = tempfile::tempdir().unwrap();
    let mut script = Command::new("packaging/reference");
    script.arg(env!("CARGO_BIN_EXE_overlay")).arg(folder.path());
    assert!(script.status().unwrap().success());
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = folder.path().join(format!("completions/overlay.{shell}"));
        assert!(fs::read_to_string(script).unwrap().contains("OVERLAY_COMPLETE"), "{shell}");
    }
    let pages: Vec<PathBuf> =
        fs::read_dir(folder.path().join("man")).unwrap().map(|e| e.unwrap().path()).collect();
    let mut referred: BTreeSet<String> = BTreeSet::new();
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        let title = page.file_stem().unwrap().to_str().unwrap();
        assert!(text.contains(&format!(".TH {title} 1")), "{title}");
        let named = text.lines().filter_map(|line| line.strip_suffix("(1)"));
        referred.extend(named.map(|name| name.replace("\\-", "-")));
    }
    // `help` prints what other pages have.
    referred.retain(|name| !name.ends_with("-help") && !name.contains("-help-"));
    assert!(referred.len() > 30, "{referred:?}");
    for name in referred {
        assert!(folder.path().join(format!("man/{name}.1")).exists(), "{name} has no page");
    }
}

/// What the program is built from is in the package: every file that sources include.
#[test]
fn the_package_has_every_file_that_sources_include() {
    let output = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listed = String::from_utf8(output.stdout).unwrap();
    let listed: BTreeSet<&str> = listed.lines().collect();
    for needed in ["Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "build.rs"] {
        assert!(listed.contains(needed), "{needed}");
    }
    let mut included = 0;
    for source in sources(Path::new("src")) {
        let text = fs::read_to_string(&source).unwrap();
        for part in text.split("include_str!(\"").skip(1) {
            let file = source.parent().unwrap().join(part.split('"').next().unwrap());
            let file = fs::canonicalize(&file).unwrap();
            let file = file.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap();
            assert!(listed.contains(file.to_str().unwrap()), "{}", file.display());
            included += 1;
        }
    }
    assert!(included > 10, "{included}");
    let heavy = ["fixtures/build/", "tools/", ".ci/", "target/"];
    assert!(!listed.iter().any(|file| heavy.iter().any(|folder| file.starts_with(folder))));
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

#[test]
fn the_manifest_for_krew_has_the_checksums_of_the_archives() {
    let folder = tempfile::tempdir().unwrap();
    let sum = |number: usize| format!("{number}").repeat(64);
    for (number, (_, _, name)) in ARCHIVES.iter().enumerate() {
        let archive = format!("overlay-v1.2.3-{name}.tar.gz");
        let line = format!("{}  {archive}\n", sum(number));
        fs::write(folder.path().join(format!("{archive}.sha256")), line).unwrap();
    }
    let mut script = Command::new("packaging/krew");
    script.args(["v1.2.3", "https://forge.example/o/overlay"]).arg(folder.path());
    let output = script.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let manifest: serde_json::Value = yaml_serde::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&manifest["kind"], &manifest["spec"]["version"]),
        (&"Plugin".into(), &"v1.2.3".into())
    );
    let platforms = manifest["spec"]["platforms"].as_array().unwrap();
    assert_eq!(platforms.len(), ARCHIVES.len());
    for (number, (platform, (os, arch, name))) in platforms.iter().zip(ARCHIVES).enumerate() {
        let labels = &platform["selector"]["matchLabels"];
        assert_eq!((&labels["os"], &labels["arch"]), (&os.into(), &arch.into()));
        assert_eq!(platform["sha256"], sum(number));
        let uri = format!(
            "https://forge.example/o/overlay/releases/download/v1.2.3/overlay-v1.2.3-{name}.tar.gz"
        );
        assert_eq!(platform["uri"], uri);
    }
    // An archive without its checksum is no release.
    fs::remove_file(folder.path().join("overlay-v1.2.3-arm64-darwin.tar.gz.sha256")).unwrap();
    assert!(!script.output().unwrap().status.success());
}
