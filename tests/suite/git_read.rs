//! Revisions read through the object store are what git says they are, in repositories of every kind.

use std::sync::Arc;
use std::time::Instant;

use overlay::git::{GitError, Repository};
use overlay::kustomize::{Entry, Files, FilesError};

use crate::support::git_lab::Lab;

/// Every file of the revision, read by us, is byte for byte what `git cat-file` prints.
fn require_same_as_git(lab: &Lab, name: &str) {
    let repository = lab.open(name);
    let files = repository.files_at("HEAD").unwrap();
    let listing = lab.git(name, &["ls-tree", "-r", "-z", "HEAD"]);
    let mut seen = 0;
    for record in listing.split('\0').filter(|record| !record.is_empty()) {
        let (meta, path) = record.split_once('\t').unwrap();
        let words: Vec<&str> = meta.split(' ').collect();
        match words[0] {
            "160000" => assert_eq!(files.entry(path).unwrap(), None, "{path}"),
            "120000" => {}
            _ => {
                let output = lab.try_git(&lab.path(name), &["cat-file", "blob", words[2]]);
                assert_eq!(&*files.read(path).unwrap(), output.stdout.as_slice(), "{path}");
                seen += 1;
            }
        }
    }
    assert!(seen > 3, "{name}: {seen}");
    assert_eq!(files.entry("no/such").unwrap(), None);
    assert_eq!(files.entry("").unwrap(), Some(Entry::Directory { real: String::new() }));
}

#[test]
fn every_kind_of_repository_reads_as_git_reads_it() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    lab.write(
        "plain/lfs.bin",
        "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n",
    );
    lab.write("plain/bytes", [0, 159, 146, 150, 13, 10]);
    lab.commit_all("plain", "more");
    lab.bare("plain", "bare.git");
    lab.git("plain", &["worktree", "add", "-q", "../linked", "-b", "other"]);
    lab.git("", &["clone", "-q", "--shared", "bare.git", "shared"]);
    lab.git("", &["clone", "-q", "--depth", "1", &lab.url("bare.git"), "shallow"]);
    lab.git("", &["clone", "-q", "bare.git", "packed"]);
    lab.git("packed", &["gc", "-q"]);
    lab.git(
        "",
        &["clone", "-q", "--filter=blob:none", "--no-checkout", &lab.url("bare.git"), "partial"],
    );
    lab.git(
        "",
        &[
            "clone",
            "-q",
            "--filter=tree:0",
            "--no-checkout",
            "--depth",
            "1",
            &lab.url("bare.git"),
            "treeless",
        ],
    );
    lab.overlays("sha256", &["--object-format=sha256"]);
    lab.init("super", &[]);
    lab.git(
        "super",
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            &lab.url("bare.git"),
            "sub",
        ],
    );
    lab.write("super/a", "1");
    lab.write("super/b", "2");
    lab.write("super/c", "3");
    lab.commit_all("super", "start");
    for name in [
        "plain",
        "bare.git",
        "linked",
        "shared",
        "shallow",
        "packed",
        "partial",
        "treeless",
        "sha256",
        "super",
        "super/sub",
    ] {
        require_same_as_git(&lab, name);
    }
    for (name, by_library) in
        [("plain", true), ("linked", true), ("partial", false), ("sha256", false)]
    {
        assert_eq!(lab.open(name).objects().is_library(), by_library, "{name}");
    }
}

#[test]
fn a_partial_clone_asks_once_for_a_directory() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    for at in 0..50 {
        lab.write(&format!("plain/many/{at}.yaml"), format!("n: {at}\n"));
    }
    lab.commit_all("plain", "many");
    lab.bare("plain", "bare.git");
    lab.git(
        "",
        &["clone", "-q", "--filter=blob:none", "--no-checkout", &lab.url("bare.git"), "partial"],
    );
    let packs = || std::fs::read_dir(lab.path("partial/.git/objects/pack")).unwrap().count();
    let before = packs();
    let files = lab.open("partial").files_at("HEAD").unwrap();
    for at in 0..50 {
        assert_eq!(
            &*files.read(&format!("many/{at}.yaml")).unwrap(),
            format!("n: {at}\n").as_bytes()
        );
    }
    // A pack, its index and the promise of the remote: the files of one request.
    assert!(packs() - before <= 4, "{} new files for 50 blobs", packs() - before);
}

#[test]
fn a_partial_clone_whose_remote_is_gone_says_so() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    lab.bare("plain", "bare.git");
    lab.git(
        "",
        &["clone", "-q", "--filter=blob:none", "--no-checkout", &lab.url("bare.git"), "partial"],
    );
    std::fs::rename(lab.path("bare.git"), lab.path("gone.git")).unwrap();
    let files = lab.open("partial").files_at("HEAD").unwrap();
    assert!(matches!(files.read("base/web.yaml"), Err(FilesError::Unreadable { .. })));
}

#[test]
fn revisions_resolve_as_git_resolves_them() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    let first = lab.git("plain", &["rev-parse", "HEAD"]);
    lab.write("plain/base/web.yaml", "second: true\n");
    let second = lab.commit_all("plain", "second");
    lab.git("plain", &["tag", "-a", "v1", "-m", "one", &first]);
    lab.git("plain", &["tag", "-a", "v1-again", "-m", "tag of a tag", "v1"]);
    lab.git("plain", &["branch", "other", &first]);
    lab.overlays("sha256", &["--object-format=sha256"]);
    let repository = lab.open("plain");
    for (revision, commit) in [
        ("HEAD", &second),
        ("main", &second),
        ("HEAD~1", &first),
        ("v1", &first),
        ("v1-again", &first),
        ("refs/heads/other", &first),
        (&first[..9], &first),
        (&second, &second),
        ("main@{0}", &second),
        (":/start", &first),
    ] {
        assert_eq!(&repository.resolve(revision).unwrap().to_string(), commit, "{revision}");
    }
    let tag = lab.git("plain", &["rev-parse", "v1"]);
    assert_eq!(repository.resolve(&tag).unwrap().to_string(), first);
    let long = "a".repeat(40);
    for revision in
        ["", "nope", "-h", "--all", "HEAD:base", "v1^{tree}", "HEAD~9", &long, "a\nb", "HEAD --"]
    {
        let error = repository.resolve(revision).unwrap_err();
        assert!(matches!(error, GitError::UnknownRevision { .. }), "{revision}: {error}");
        assert_eq!(crate::git_commit::code_of(error), ("no-such-revision", 4));
    }
    assert_eq!(
        lab.open("sha256").resolve("HEAD").unwrap().to_string(),
        lab.git("sha256", &["rev-parse", "HEAD"])
    );
    assert_ne!(
        repository.files_at("HEAD~1").unwrap().read("base/web.yaml").unwrap(),
        repository.files_at("HEAD").unwrap().read("base/web.yaml").unwrap()
    );
}

#[test]
fn links_are_followed_inside_and_never_out() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    lab.link("plain/overlays/same", "prod");
    lab.link("plain/overlays/up.yaml", "../base/web.yaml");
    lab.link("plain/overlays/chain.yaml", "./up.yaml");
    lab.link("plain/out", "../../etc/passwd");
    lab.link("plain/absolute", "/etc/passwd");
    lab.link("plain/loop-a", "loop-b");
    lab.link("plain/loop-b", "loop-a");
    lab.link("plain/dangling", "base/none.yaml");
    lab.link("plain/through", "overlays/same/../../base");
    lab.commit_all("plain", "links");
    let files = lab.open("plain").files_at("HEAD").unwrap();
    let file = |real: &str| Ok(Some(Entry::File { real: real.to_owned() }));
    assert_eq!(
        files.entry("overlays/same/kustomization.yaml"),
        file("overlays/prod/kustomization.yaml")
    );
    assert_eq!(files.entry("overlays/same/kustomization.yml"), Ok(None));
    assert_eq!(files.entry("overlays/up.yaml"), file("base/web.yaml"));
    assert_eq!(files.entry("overlays/chain.yaml"), file("base/web.yaml"));
    assert_eq!(files.entry("through/web.yaml"), file("base/web.yaml"));
    assert_eq!(files.entry("base/web.yaml/x"), Ok(None));
    for outside in ["out", "absolute", "../x", "base/../../x"] {
        assert!(matches!(files.entry(outside), Err(FilesError::Outside { .. })), "{outside}");
    }
    for broken in ["loop-a", "dangling"] {
        assert!(matches!(files.entry(broken), Err(FilesError::Unreadable { .. })), "{broken}");
    }
}

#[test]
fn huge_files_are_refused_before_they_are_read() {
    let lab = Lab::new();
    lab.init("plain", &[]);
    lab.write("plain/huge.yaml", vec![b'a'; 17 << 20]);
    lab.commit_all("plain", "huge");
    let files = lab.open("plain").files_at("HEAD").unwrap();
    assert!(
        matches!(files.read("huge.yaml"), Err(FilesError::TooLarge { bytes, .. }) if bytes == 17 << 20)
    );
}

#[test]
fn where_there_is_no_repository_it_is_said() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("none")).unwrap();
    let error = Repository::open(&Arc::new(lab.settings()), &lab.path("none")).err().unwrap();
    assert!(matches!(error, GitError::NotARepository { .. }), "{error}");
    lab.init("plain", &[]);
    lab.write("plain/deep/er/x", "");
    let repository = lab.open("plain/deep/er");
    assert_eq!(repository.relative(&lab.path("plain/deep/er")).as_deref(), Some("deep/er"));
    assert_eq!(repository.relative(&lab.path("home")), None);
    assert_eq!(repository.current_branch().unwrap().as_deref(), Some("refs/heads/main"));
    assert!(matches!(repository.resolve("HEAD"), Err(GitError::UnknownRevision { .. })));
}

#[test]
fn thousands_of_files_are_read_in_seconds() {
    let lab = Lab::new();
    lab.init("plain", &[]);
    for at in 0..5_000 {
        lab.write(&format!("plain/d{}/f{at}.yaml", at % 100), format!("value: {at}\n"));
    }
    lab.commit_all("plain", "many");
    let started = Instant::now();
    let files = lab.open("plain").files_at("HEAD").unwrap();
    for at in 0..5_000 {
        files.read(&format!("d{}/f{at}.yaml", at % 100)).unwrap();
    }
    let took = started.elapsed();
    #[allow(clippy::print_stderr, reason = "a number to be read")]
    {
        eprintln!("5000 files of one revision: {took:?}");
    }
    assert!(took.as_secs() < 10, "{took:?}");
}
