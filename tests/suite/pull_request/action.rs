//! The action's script and the README's chapter, as they stand, against the forge of the tests.

use crate::support::{runs, skip};

use super::*;

/// The environment of a job step, with the program under test as the one that is installed.
fn step(stage: &Stage, variables: &[(&str, &str)]) -> (i32, String, String) {
    std::fs::create_dir_all(stage.lab.path("bin")).unwrap();
    let program = stage.lab.path("bin/overlay");
    if !program.exists() {
        stage.lab.link("bin/overlay", env!("CARGO_BIN_EXE_overlay"));
    }
    let path = format!("{}:{}", stage.lab.path("bin").display(), std::env::var("PATH").unwrap());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/action/run");
    let mut command = Command::new("bash");
    command.arg(script).current_dir(stage.lab.path("")).env_clear();
    command.envs(stage.lab.environment()).env("PATH", path);
    command.env("OVERLAY_CACHE_DIR", stage.lab.path("cache"));
    for (name, value) in [
        ("OVERLAY_COMMAND", "pin"),
        ("OVERLAY_OVERLAYS", "overlays/prod\n"),
        ("OVERLAY_DIGESTS", ""),
        ("OVERLAY_ARGUMENTS", ""),
        ("OVERLAY_PULL_REQUEST", "true"),
        ("OVERLAY_DIRECTORY", "clone"),
        ("GITHUB_TOKEN", TOKEN),
    ] {
        command.env(name, value);
    }
    let (output, summary) = (stage.lab.path("output"), stage.lab.path("summary"));
    for file in [&output, &summary] {
        std::fs::write(file, "").unwrap();
    }
    command.env("GITHUB_OUTPUT", &output).env("GITHUB_STEP_SUMMARY", &summary);
    command.env("GITHUB_API_URL", stage.github.api()).envs(variables.iter().copied());
    let ran = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    let read = |file| std::fs::read_to_string(file).unwrap();
    assert!(!(text.clone() + &read(&output) + &read(&summary)).contains("ghp_"), "{text}");
    (ran.status.code().unwrap(), read(&output), text + &read(&summary))
}

#[test]
fn the_action_gives_its_outputs() {
    if !runs("jq", &["--version"]) {
        return skip("no jq");
    }
    let stage = Stage::new(1);
    let digests = format!("{{\"shop/app0\": \"{}\"}}", digest('2'));
    let inputs = [
        ("OVERLAY_DIGESTS", digests.as_str()),
        ("OVERLAY_ARGUMENTS", "--title\nRelease $(id) `id`\n"),
    ];
    let (status, output, text) = step(&stage, &inputs);
    assert_eq!(status, 0, "{text}");
    for line in ["changed=true", "pull-request=1", "pull-request-url=http://127.0.0.1:"] {
        assert!(output.contains(line), "{output}");
    }
    assert!(output.contains("\"after\":\"shop/app0@sha256:2222"), "{output}");
    assert_eq!(stage.github.pull(1).title, "Release $(id) `id`", "nothing of an input is run");
    assert!(text.contains("pull request 1 opened"), "{text}");
    let (_, output, _) = step(&stage, &inputs);
    assert!(output.contains("changed=false"), "{output}");
    // What fails is told in the summary and as an annotation.
    let (status, _, text) = step(&stage, &[("OVERLAY_DIGESTS", "{\"none\": \"sha256:1\"}")]);
    assert_eq!(status, 3, "{text}");
    assert!(text.contains("::error title=invalid-digest::"), "{text}");
}

/// The commands of "From CI on release" as printed, in a scratch repository.
#[test]
fn the_chapter_of_the_readme_works_as_printed() {
    let readme = std::fs::read_to_string("README.md").unwrap();
    let chapter =
        readme.split("## From CI on release").nth(1).unwrap().split("\n## ").next().unwrap();
    let block = chapter.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let stage = Stage::new(1);
    stage.lab.write("clone/release.json", format!("{{\"app0\": \"{}\"}}", digest('2')));
    std::fs::create_dir(stage.lab.path("bin")).unwrap();
    stage.lab.link("bin/overlay", env!("CARGO_BIN_EXE_overlay"));
    let path = format!("{}:{}", stage.lab.path("bin").display(), std::env::var("PATH").unwrap());
    let run = || {
        let mut command = Command::new("bash");
        command.args(["-euc", block]).current_dir(stage.lab.path("clone")).env_clear();
        command.envs(stage.lab.environment()).env("PATH", &path);
        command.env("GITHUB_TOKEN", TOKEN).env("GITHUB_API_URL", stage.github.api());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run().contains("pull request 1 opened: http://"));
    assert!(run().contains("pull request 1 unchanged: http://"));
    assert_eq!(stage.github.pull(1).labels, ["release"]);
}
