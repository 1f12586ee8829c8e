//! Completions and the manual: what a real shell and `man` make of them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::repo::TestRepo;
use crate::support::{runs, skip};

const FIXTURE: &str = "fixtures/overlays/lattice";

/// A shell on a terminal, and the file that it reads when it begins, made from the script of its completions.
struct Shell {
    program: &'static str,
    words: &'static [&'static str],
    /// Where the script is put, and the file that the shell begins with, below its home.
    script: &'static str,
    begin: (&'static str, &'static str),
}

/// The script by itself, as a profile would have it.
const BASH: Shell = Shell {
    program: "bash",
    words: &["--rcfile", ".bashrc", "-i"],
    script: "overlay.bash",
    begin: (".bashrc", "PS1='READY> '; bind 'set bell-style none'; . \"$HOME/overlay.bash\""),
};

/// The script where the package bash-completion looks for it, which `docs/install.md` names.
const BASH_COMPLETION: Shell = Shell {
    script: ".local/share/bash-completion/completions/overlay",
    begin: (".bashrc", "PS1='READY> '; . /usr/share/bash-completion/bash_completion"),
    ..BASH
};

/// The script in a folder of `fpath`, as distributions have theirs: it is loaded by the first Tab.
const ZSH: Shell = Shell {
    program: "zsh",
    words: &["-i"],
    script: "functions/_overlay",
    begin: (
        ".zshrc",
        "PS1='READY> '; fpath=(~/functions $fpath); autoload -Uz compinit && compinit -u -D",
    ),
};

const ZSH_SOURCED: Shell = Shell {
    script: "overlay.zsh",
    begin: (".zshrc", "PS1='READY> '; autoload -Uz compinit && compinit -u -D; . ~/overlay.zsh"),
    ..ZSH
};

impl Shell {
    /// What the terminal shows when `typed` is typed, in which `\t` is Tab; `None` where `expected` has not come after `seconds`.
    fn press_tab(
        &self,
        has_script: bool,
        typed: &str,
        expected: &str,
        seconds: u32,
    ) -> Option<String> {
        let repo = TestRepo::from_folder(Path::new(FIXTURE));
        self.type_in(&repo, has_script, typed, expected, seconds)
    }

    fn type_in(
        &self,
        repo: &TestRepo,
        has_script: bool,
        typed: &str,
        expected: &str,
        seconds: u32,
    ) -> Option<String> {
        let home = tempfile::tempdir().unwrap();
        let script = match has_script {
            true => repo.overlay(&["completions", self.program]).stdout,
            false => String::new(),
        };
        let (name, begin) = self.begin;
        for (name, text) in [(self.script, script.as_str()), (name, begin)] {
            let file = home.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let words = self.words.iter().map(|word| match word.starts_with('.') {
            true => home.path().join(word).display().to_string(),
            false => (*word).to_owned(),
        });
        let output = Command::new("python3")
            .arg(fs::canonicalize("tests/suite/reference/tab.py").unwrap())
            .args([typed, expected, &seconds.to_string(), self.program])
            .args(words)
            .current_dir(repo.path())
            .env_clear()
            .env("PATH", path())
            .env("HOME", home.path())
            .env("ZDOTDIR", home.path())
            .output()
            .unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        output.status.success().then_some(shown)
    }
}

/// The path by which shells find the program under test.
fn path() -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_overlay"));
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}:{path}", program.parent().unwrap().display())
}

/// In each shell: the name of an overlay as far as it is the same, then the names to choose from; the one workload that begins
/// so, without a space after what wants a number; and options where they are asked for alone.
fn completes(shell: &Shell) {
    if !runs(shell.program, &["--version"]) || !runs("python3", &["--version"]) {
        return skip(&format!("{} or python3", shell.program));
    }
    for (typed, expected) in [
        (r"overlay set replicas overl\t\t\t", r"overlays/prod\s+overlays/staging"),
        (r"overlay set replicas overlays/prod ga\t", "ga.*teway=\x07?$"),
        (r"overlay restart overlays/prod ga\t", "ga.*teway "),
        (r"overlay set replicas overlays/prod --dry\t", "--dry.*-run "),
    ] {
        let shown = shell.press_tab(true, typed, expected, 60);
        let shown = shown.unwrap_or_else(|| panic!("{typed} shows no {expected}"));
        assert!(!shown.contains("--overlay"), "{typed}: {shown}");
    }
    // Without the script nothing of this comes.
    let without = shell.press_tab(false, r"overlay set replicas overlays/prod ga\t", "teway", 2);
    assert_eq!(without, None);
}

#[test]
fn bash_completes_overlays_and_workloads() {
    completes(&BASH);
}

#[test]
fn bash_finds_the_script_where_the_manual_puts_it() {
    if !Path::new("/usr/share/bash-completion/bash_completion").exists() {
        return skip("bash-completion");
    }
    completes(&BASH_COMPLETION);
}

#[test]
fn zsh_completes_overlays_and_workloads() {
    completes(&ZSH);
    completes(&ZSH_SOURCED);
}

/// A folder whose name is commands, were a shell to read it, is completed and run: what runs is `overlay` on that folder.
#[test]
fn a_name_that_is_a_command_is_completed_as_a_name() {
    let name = r##"a b$(touch PWN1)`touch PWN2`;touch PWN3;'"!x&|<>{c,d}[e]*?~#=f:é\"##;
    for (shell, typed) in [
        (&BASH, r"overlay build ov/\t\r"),
        (&BASH, r"overlay build o\t\r"),
        (&BASH, r#"overlay build "ov/\t\r"#),
        (&BASH, r"overlay build 'ov/\t\r"),
        (&BASH, r"overlay build 'ov'/a\ b\t\r"),
        (&BASH, r"true && A=b overlay build ov/\t\r"),
        (&ZSH_SOURCED, r"overlay build ov/\t\r"),
        (&ZSH_SOURCED, r"overlay build 'ov/\t\r"),
    ] {
        if !runs(shell.program, &["--version"]) || !runs("python3", &["--version"]) {
            skip(&format!("{} or python3", shell.program));
            continue;
        }
        let repo = TestRepo::empty();
        let folder = format!("ov/{name}");
        repo.write(&format!("{folder}/kustomization.yaml"), "resources: [map.yaml]\n");
        let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: found-it}\n";
        repo.write(&format!("{folder}/map.yaml"), map);
        let shown = shell.type_in(&repo, true, typed, "name: found-it", 60);
        assert!(shown.is_some(), "{} {typed}", shell.program);
        let names = fs::read_dir(repo.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let names: Vec<String> =
            names.map(|name| name.into_string().unwrap()).filter(|name| name != ".git").collect();
        assert_eq!(names, ["ov"], "{} {typed}", shell.program);
    }
}

/// A script of an older version, which puts an answer into the line as it comes, is given none.
#[test]
fn an_older_script_of_bash_is_answered_nothing() {
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    let mut asked = Command::new(env!("CARGO_BIN_EXE_overlay"));
    asked.args(["--", "overlay", "build", ""]).current_dir(repo.path());
    asked.env("OVERLAY_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "2");
    let output = asked.output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    // The same question, asked by PowerShell's script, which is answered words of PowerShell.
    repo.write("ov$(x)/kustomization.yaml", "resources: []\n");
    let output = asked.env("OVERLAY_COMPLETE", "powershell").output().unwrap();
    let answers = String::from_utf8(output.stdout).unwrap();
    assert!(answers.lines().any(|line| line == "'ov$(x)'"), "{answers}");
    assert!(answers.lines().any(|line| line == "overlays/prod"), "{answers}");
}

#[test]
fn ids_commands_and_schemas_are_completed() {
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    let offered = |words: &[&str]| -> Vec<String> {
        let mut asked = Command::new(env!("CARGO_BIN_EXE_overlay"));
        asked.args(["--", "overlay"]).args(words).current_dir(repo.path());
        asked.env("OVERLAY_COMPLETE", "powershell");
        let output = asked.env("_CLAP_COMPLETE_INDEX", words.len().to_string()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    };
    assert_eq!(offered(&["explain", "pdb-bl"]), ["pdb-blocks-drain"]);
    assert_eq!(offered(&["explain", "build-b"]), ["build-broken"]);
    assert_eq!(offered(&["man", "set", "re"]), ["replicas", "resources"]);
    assert_eq!(offered(&["schema", ""]), ["changes", "config", "hold", "result"]);
    assert_eq!(offered(&["verify", "-o", "m"]), ["markdown"]);
    assert_eq!(offered(&["build", "-o", ""]), ["human", "json"]);
}

/// `complete -C` is fish's own engine: what it offers for a line, with descriptions behind a tab.
#[test]
fn fish_completes_overlays_and_workloads() {
    if !runs("fish", &["--version"]) {
        return skip("fish");
    }
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    repo.write("overlays/ev\u{1b}il/kustomization.yaml", "resources: []\n");
    let script = repo.overlay(&["completions", "fish"]).stdout;
    let offered = |line: &str| -> Vec<String> {
        let ask = format!("{script}\ncomplete -C '{line}'");
        let mut fish = Command::new("fish");
        fish.args(["--no-config", "-c", &ask]).current_dir(repo.path());
        fish.env_clear().env("PATH", path()).env("HOME", repo.path());
        let output = fish.output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    };
    assert_eq!(offered("overlay pi"), ["pin"]);
    let overlays = ["overlays/prod", "overlays/staging"];
    assert_eq!(offered("overlay set replicas overlays/"), overlays);
    assert_eq!(offered("overlay set replicas overlays/prod ga"), ["gateway="]);
    assert_eq!(offered("overlay restart overlays/prod ga"), ["gateway"]);
    assert_eq!(offered("overlay set replicas overlays/nowhere ga"), [""; 0]);
    assert_eq!(offered("overlay set replicas overlays/prod --dry"), ["--dry-run"]);
}

#[test]
fn every_shell_has_its_script() {
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = repo.overlay(&["completions", shell]);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(ran.stdout.contains("OVERLAY_COMPLETE"), "{shell}");
    }
    assert_eq!(repo.overlay(&["completions", "cmd"]).status, 2);
}

#[test]
fn every_command_has_its_page() {
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    let page = repo.overlay(&["man"]);
    assert!(page.stdout.contains(".TH overlay 1"), "{page:?}");
    for words in [&["pin"][..], &["set", "replicas"]] {
        let page = repo.overlay(&[&["man"], words].concat());
        assert!(page.stdout.contains(&format!(".TH overlay-{} 1", words.join("-"))), "{page:?}");
    }
    for (word, page) in [("set-replicas", "set-replicas"), ("overlay-drain-plan", "drain-plan")] {
        let shown = repo.overlay(&["man", word]);
        assert!(shown.stdout.contains(&format!(".TH overlay-{page} 1")), "{shown:?}");
    }
    let none = repo.overlay(&["man", "nope"]);
    assert!(none.status == 2 && none.stderr.contains("there are: list, images"), "{none:?}");
    let none = repo.overlay(&["man", "pni", "-o", "json"]);
    assert_eq!((none.status, none.code().as_str()), (2, "usage"));
    assert!(none.stdout.contains("did you mean pin?"), "{none:?}");
}

#[test]
fn doctor_tells_what_is_there_and_shows_no_secret() {
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    let secret = "ghp_planted_0123456789";
    let variables = std::collections::BTreeMap::from([
        ("GITHUB_TOKEN".to_owned(), secret.to_owned()),
        ("SSH_AUTH_SOCK".to_owned(), String::new()),
    ]);
    let ran = repo.overlay_with(&["doctor", "-o", "json"], "", &variables);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{ran:?}");
    let examined = ran.json()["result"]["examined"].as_array().unwrap().clone();
    let find = |name: &str| examined.iter().find(|one| one["name"] == name).unwrap().clone();
    assert_eq!((&find("git")["state"], &find("git")["kind"]), (&"ok".into(), &"program".into()));
    assert_eq!(
        (&find("GITHUB_TOKEN")["state"], &find("GITHUB_TOKEN")["detail"]),
        (&"ok".into(), &"set".into())
    );
    assert_eq!(find("SSH_AUTH_SOCK")["state"], "absent");
}

/// Half a credential is a fault that names the other half.
#[test]
fn doctor_finds_half_an_app() {
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    let doctor = |names: &[&str]| {
        let variables = names.iter().map(|name| ((*name).to_owned(), "4711".to_owned()));
        let ran = repo.overlay_with(&["doctor", "-o", "json"], "", &variables.collect());
        let examined = ran.json()["result"]["examined"].as_array().unwrap().clone();
        let is_app = |one: &&serde_json::Value| {
            one["name"].as_str().is_some_and(|name| name.starts_with("GITHUB_APP_ID"))
        };
        (ran.status, examined.iter().find(is_app).unwrap().clone())
    };
    assert_eq!(doctor(&[]).1["state"], "absent");
    let (status, whole) = doctor(&["GITHUB_APP_ID", "GITHUB_APP_PRIVATE_KEY"]);
    assert_eq!((status, &whole["state"]), (0, &"ok".into()));
    for (set, unset) in
        [("GITHUB_APP_ID", "GITHUB_APP_PRIVATE_KEY"), ("GITHUB_APP_PRIVATE_KEY", "GITHUB_APP_ID")]
    {
        let (status, half) = doctor(&[set]);
        assert_eq!((status, &half["state"]), (4, &"problem".into()), "{half}");
        let detail = half["detail"].as_str().unwrap();
        assert!(detail.contains(&format!("set {unset}")), "{detail}");
    }
}

#[test]
fn doctor_ends_with_4_where_a_remote_does_not_answer() {
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    repo.git(&["remote", "add", "origin", "file:///nowhere/at/all.git"]);
    let ran = repo.overlay(&["doctor", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (4, "doctor-problem"), "{ran:?}");
    assert!(ran.stdout.contains("remote origin"), "{ran:?}");
    let offline = repo.overlay(&["doctor", "--offline"]);
    assert_eq!(offline.status, 0, "{offline:?}");
}

/// What other commands refuse is no ok: settings, credentials of registries, each configuration of kubectl.
#[test]
fn doctor_looks_into_the_files_that_commands_read() {
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    for (file, text) in [
        (".overlay.yaml", "timeout: 1m\n"),
        ("docker/config.json", r#"{"auths": {}}"#),
        ("a.yaml", "kind: Config\n"),
        ("b.yaml", "kind: Config\n"),
    ] {
        repo.write(file, text);
    }
    let path = |name: &str| repo.path().join(name).display().to_string();
    let variables = std::collections::BTreeMap::from([
        ("DOCKER_CONFIG".to_owned(), path("docker")),
        (
            "KUBECONFIG".to_owned(),
            format!("{}:{}:{}", path("a.yaml"), path("none"), path("b.yaml")),
        ),
    ]);
    let state_of = |directory: &str, name: &str| {
        let ran = repo.overlay_with(&["-C", directory, "doctor", "-o", "json"], "", &variables);
        let examined = ran.json()["result"]["examined"].as_array().unwrap().clone();
        let one = examined.iter().find(|one| one["name"].as_str().unwrap().ends_with(name));
        (
            ran.status,
            one.unwrap_or_else(|| panic!("{name}: {ran:?}"))["state"].as_str().unwrap().to_owned(),
        )
    };
    let files = [".overlay.yaml", "docker/config.json", "a.yaml", "b.yaml"];
    for file in files {
        assert_eq!(state_of(".", file), (0, "ok".to_owned()), "{file}");
    }
    assert_eq!(state_of(".", "none").1, "absent");
    for (file, broken) in
        files.into_iter().zip(["timout: 1m\n", r#"{"auths": {"#, "a: [\n", "just a word"])
    {
        let right = fs::read_to_string(repo.path().join(file)).unwrap();
        repo.write(file, broken);
        // Also from below: the settings are those of the whole repository.
        assert_eq!(state_of("overlays", file), (4, "problem".to_owned()), "{file}");
        repo.write(file, &right);
    }
}

/// The synopsis is the usage of `--help`, with what options take; `man` can read it.
#[test]
fn a_synopsis_tells_what_options_take() {
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    for words in [&["pin"][..], &["set", "replicas"], &["capacity"]] {
        let page = repo.overlay(&[&["man"], words].concat()).stdout;
        let synopsis = page.split(".SH SYNOPSIS\n").nth(1).unwrap().split(".SH ").next().unwrap();
        assert!(!synopsis.contains("[\\fB\\-C \\fR]"), "{synopsis}");
        let help = repo.overlay(&[words, &["--help"]].concat()).stdout;
        let usage = help.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap();
        assert!(synopsis.replace("\\-", "-").contains(usage), "{synopsis}: {usage}");
    }
}
