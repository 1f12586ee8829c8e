//! One change, one pull request: opened, brought up to date, and nothing where nothing changes.

use crate::support::git_lab::Lab;

use super::*;

#[test]
fn a_release_opens_one_pull_request_and_the_next_one_updates_it() {
    let stage = Stage::new(2);
    let main = stage.at("main");
    let first = stage.pin('2', &[]).ok();
    assert!(first.changed());
    assert_eq!((first.number(), first.action()), (Some(1), "opened"));
    let branch = first.branch();
    assert!(branch.starts_with("overlay/pin-app0-overlays-prod-"), "{branch}");
    assert_eq!(stage.github.writes(), ["POST /pulls"]);
    let pull = stage.github.pull(1);
    assert_eq!(
        (pull.title.as_str(), pull.base_branch.as_str()),
        ("Pin app0 in overlays/prod", "main")
    );
    assert!(
        pull.body.contains("| `shop/app0` | `sha256:111111111111…` | `sha256:222222222222…` |"),
        "{}",
        pull.body
    );
    assert_eq!(stage.at(&branch).as_deref(), Some(first.commit()));
    assert_eq!(stage.git(&["diff", "--name-only", "main", &branch]), PROD);

    // The same again: nothing is pushed, nothing is written, and that is a success.
    let again = stage.pin('2', &[]).ok();
    assert!(!again.changed(), "{}", again.text);
    assert_eq!((again.number(), again.action()), (Some(1), "unchanged"));
    assert_eq!(stage.github.writes(), [""; 0]);
    assert_eq!(stage.at(&branch).as_deref(), Some(first.commit()));

    // The next release: the same pull request, its one commit replaced.
    let next = stage.pin('3', &[]).ok();
    assert_eq!((next.number(), next.action(), next.branch()), (Some(1), "updated", branch.clone()));
    assert_eq!(stage.github.writes(), ["PATCH /pulls/1"]);
    assert_eq!(stage.git(&["rev-list", "--count", &format!("main..{branch}")]), "1");
    assert!(stage.github.pull(1).body.contains("`sha256:333333333333…`"));
    assert_eq!((stage.at("main"), stage.github.open_numbers()), (main, vec![1]));
    // Another image is another change.
    let other = stage.run(&["pin", "overlays/prod", &pin("shop/app1", '2'), "--pr"]).ok();
    assert_eq!(other.number(), Some(2));
    stage.lab.require_sound("hub/ops/deploy.git");
}

/// C128: neither a branch nor a request that writes, in a full and in a shallow clone, and where the branch exists and equals `main`.
#[test]
fn nothing_to_do_opens_nothing() {
    let stage = Stage::new(1);
    stage.git(&["branch", "overlay/prod-web", "main"]);
    let refs = stage.git(&["for-each-ref"]);
    let before = stage.lab.read(&format!("clone/{PROD}"));
    for more in [&[] as &[&str], &["--branch", "overlay/prod-web"]] {
        for _ in 0..2 {
            let ran = stage.pin('1', more).ok();
            assert!(!ran.changed());
            assert_eq!((ran.number(), ran.commit()), (None, ""));
            assert_eq!(stage.github.writes(), [""; 0]);
        }
    }
    assert_eq!(stage.git(&["for-each-ref"]), refs);
    assert_eq!(stage.lab.read(&format!("clone/{PROD}")), before);
    stage.lab.git("", &["clone", "-q", "--depth", "1", &stage.github.remote(REPOSITORY), "job"]);
    let args = ["pin", "overlays/prod", &pin("shop/app0", '1'), "--pr"];
    let ran = stage.finish(stage.command_in("job", &args).output().unwrap()).ok();
    assert_eq!((ran.changed(), ran.number()), (false, None));
    assert_eq!((stage.github.writes(), stage.git(&["for-each-ref"])), (vec![], refs));
    // Neither a token nor an answer of the forge is needed to find that out.
    let mut command = stage.command(&["pin", "overlays/prod", &pin("shop/app0", '1'), "--pr"]);
    let ran = stage.finish(command.env_remove("GITHUB_TOKEN").output().unwrap()).ok();
    assert!(!ran.changed());
}

/// C19 with commit and pull request: the pin is already right, in odd quotes and key order.
#[test]
fn nothing_to_do_must_do_nothing() {
    let text = "resources: [../../base]\nimages:\n- digest: \"sha256:55da2abd97f49915f56b5b2f4836140ee775442bf0d8ab62695e0b06dcd3ccf2\"\n  newTag: '1.4'\n  name: 'registry.test:5000/shop/web'\n";
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    lab.write(&format!("plain/{PROD}"), text);
    lab.commit_all("plain", "pinned");
    let stage = Stage::of(lab);
    let file = stage.lab.path(&format!("clone/{PROD}"));
    let state = || {
        let refs = [stage.git(&["for-each-ref"]), stage.lab.git("clone", &["for-each-ref"])];
        (std::fs::metadata(&file).unwrap().modified().unwrap(), refs)
    };
    let before = state();
    let wanted = "registry.test:5000/shop/web=registry.test:5000/shop/web:1.4@sha256:55da2abd97f49915f56b5b2f4836140ee775442bf0d8ab62695e0b06dcd3ccf2";
    for _ in 0..2 {
        let ran = stage.run(&["pin", "overlays/prod", wanted, "--pr"]).ok();
        assert_eq!((ran.changed(), ran.number(), ran.commit()), (false, None, ""), "{}", ran.text);
        assert_eq!(ran.json["result"]["overlays"][0]["status"], "unchanged", "{}", ran.text);
        assert_eq!(stage.github.writes(), [""; 0]);
        assert_eq!(state(), before);
        assert_eq!(stage.lab.read(&format!("clone/{PROD}")), text.as_bytes());
    }
}

#[test]
fn a_pull_request_whose_change_the_base_has_by_now_is_closed() {
    let stage = Stage::new(1);
    let first = stage.pin('2', &[]).ok();
    let back = stage.pin('1', &[]).ok();
    assert_eq!((back.number(), back.action()), (first.number(), "closed"));
    let pull = stage.github.pull(1);
    assert!(!pull.is_open && pull.merged.is_none());
    assert!(pull.comments[0].contains("`main` holds this change already"), "{:?}", pull.comments);
}

/// S55: main refuses pushes, the remote has moved, a pull request for the overlay is open, another file is dirty.
#[test]
fn the_open_pull_request_is_redone_on_the_head_that_moved() {
    let stage = Stage::new(1);
    let hook = stage.lab.path("hub/ops/deploy.git/hooks/update");
    let protect = || {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::write(&hook, "#!/bin/sh\n[ \"$1\" != refs/heads/main ]\n").unwrap();
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    protect();
    let refused = stage.run(&["pin", "overlays/prod", &pin("shop/app0", '2'), "--push"]);
    assert_eq!((refused.status, refused.code()), (5, "push-refused"), "{}", refused.text);
    let first = stage.pin('2', &[]).ok();
    // A person whom the rule lets pass.
    std::fs::remove_file(&hook).unwrap();
    let head = stage.person("main", PROD, "# moved");
    protect();
    stage.lab.write(
        "clone/base/web.yaml",
        [stage.lab.read("clone/base/web.yaml"), b"# mine\n".to_vec()].concat(),
    );
    let local = stage.lab.git("clone", &["rev-parse", "HEAD"]);
    let second = stage.pin('2', &[]).ok();
    assert_eq!((second.number(), second.action()), (Some(1), "updated"));
    let branch = second.branch();
    assert_eq!(branch, first.branch());
    // One commit, one file, on the head of the remote; the checkout is as it was.
    assert_eq!(stage.git(&["rev-parse", &format!("{branch}^")]), head);
    assert_eq!(stage.git(&["diff", "--name-only", "main", &branch]), PROD);
    assert_eq!(stage.lab.git("clone", &["rev-parse", "HEAD"]), local);
    assert_eq!(stage.lab.git("clone", &["status", "--porcelain"]), " M base/web.yaml");
    assert_eq!(stage.github.open_numbers(), [1]);
    // The overlay's own file dirty: refused.
    stage.lab.write(
        &format!("clone/{PROD}"),
        [stage.lab.read(&format!("clone/{PROD}")), b"# mine\n".to_vec()].concat(),
    );
    assert_eq!(stage.pin('3', &[]).code(), "dirty-file");
}

#[test]
fn a_base_that_moved_elsewhere_pushes_nothing() {
    let stage = Stage::new(1);
    let first = stage.pin('2', &[]).ok();
    stage.person("main", "overlays/dev/kustomization.yaml", "# dev");
    let second = stage.pin('2', &[]).ok();
    assert!(!second.changed(), "{}", second.text);
    assert_eq!(stage.at(&first.branch()).as_deref(), Some(first.commit()));
}

#[test]
fn what_belongs_to_it_is_set_and_what_the_forge_lacks_is_told() {
    let stage = Stage::new(1);
    let more = [
        "--title",
        "Release 1.4",
        "--draft",
        "--label",
        "release",
        "--label",
        "a b",
        "--reviewer",
        "ann",
        "--reviewer",
        "ops/sre",
        "--assignee",
        "bob",
    ];
    let ran = stage.pin('2', &more).ok();
    let pull = stage.github.pull(ran.number().unwrap());
    assert!(pull.is_draft);
    assert_eq!(pull.title, "Release 1.4");
    assert_eq!(
        (pull.labels, pull.reviewers),
        (vec!["release".into(), "a b".into()], vec!["ann".to_owned(), "sre".into()])
    );
    assert_eq!(pull.assignees, ["bob"]);
    assert_eq!(stage.github.writes().len(), 4);
    // Again: what is there is not asked for again.
    stage.pin('2', &more).ok();
    assert_eq!(stage.github.writes(), [""; 0]);
    // Another change, whose reviewer does not exist: the pull request is there, and it is told.
    let stage = Stage::new(1);
    let ran = stage.pin('2', &["--reviewer", "nobody"]).ok();
    assert_eq!(ran.action(), "opened");
    assert!(ran.notes().contains("has not got its reviewers"), "{}", ran.notes());
}

#[test]
fn what_people_wrote_stays() {
    let stage = Stage::new(1);
    stage.pin('2', &[]).ok();
    stage.github.hub(|hub| {
        let pull = hub.find(1).unwrap();
        pull.title = "Ship it".into();
        pull.body =
            format!("Mind the migration.\r\n\r\n{}\r\nThanks.", pull.body.replace('\n', "\r\n"));
    });
    assert!(!stage.pin('2', &[]).ok().changed());
    stage.pin('3', &[]).ok();
    let pull = stage.github.pull(1);
    assert_eq!(pull.title, "Ship it");
    assert!(pull.body.starts_with("Mind the migration.\n") && pull.body.ends_with("\nThanks."));
    assert!(pull.body.contains("333333333333"), "{}", pull.body);
    // One that was opened by hand keeps its whole text.
    let stage = Stage::new(1);
    let branch = stage.pin('2', &[]).ok().branch();
    stage.github.hub(|hub| hub.find(1).unwrap().body = "mine".into());
    let ran = stage.pin('3', &["--branch", &branch]).ok();
    assert_eq!(stage.github.pull(1).body, "mine");
    assert!(ran.notes().contains("opened by hand"), "{}", ran.notes());
}

#[test]
fn a_larger_change_takes_the_place_of_smaller_ones() {
    let stage = Stage::new(3);
    let (one, two) = (pin("shop/app0", '2'), pin("shop/app1", '2'));
    stage.run(&["pin", "overlays/prod", &one, "--pr"]).ok();
    stage.run(&["pin", "overlays/prod", &pin("shop/app2", '2'), "--pr"]).ok();
    let both = stage.run(&["pin", "overlays/prod", &one, &two, "--pr"]).ok();
    assert_eq!(both.number(), Some(3));
    assert_eq!(both.json["result"]["pullRequest"]["supersedes"], serde_json::json!([1]));
    assert_eq!(stage.github.open_numbers(), [2, 3]);
    assert_eq!(stage.github.pull(1).comments, ["#3 takes the place of this pull request."]);
}

#[test]
fn an_address_needs_no_clone() {
    let stage = Stage::new(1);
    std::fs::create_dir(stage.lab.path("empty")).unwrap();
    let remote = stage.github.remote(REPOSITORY);
    let run = |digit| {
        let reference = pin("shop/app0", digit);
        let args = ["pin", "overlays/prod", &reference, "--pr", "--remote", &remote];
        stage.finish(stage.command_in("empty", &args).output().unwrap()).ok()
    };
    let first = run('2');
    assert_eq!((first.number(), first.action()), (Some(1), "opened"));
    assert!(!run('2').changed());
    // The commit of the open pull request is known to be ours, though there is no history here.
    let next = run('3');
    assert_eq!((next.number(), next.action()), (Some(1), "updated"));
    assert_eq!(stage.git(&["rev-list", "--count", &format!("main..{}", next.branch())]), "1");
    assert_eq!(std::fs::read_dir(stage.lab.path("empty")).unwrap().count(), 0);
}

#[test]
fn a_job_has_a_shallow_clone() {
    let stage = Stage::new(1);
    stage.person("main", "README", "one");
    stage.lab.git("", &["clone", "-q", "--depth", "1", &stage.github.remote(REPOSITORY), "job"]);
    let run = |digit| {
        let args = ["pin", "overlays/prod", &pin("shop/app0", digit), "--pr"];
        stage.finish(stage.command_in("job", &args).output().unwrap()).ok()
    };
    let first = run('2');
    stage.person("main", "README", "two");
    let next = run('3');
    assert_eq!((next.number(), next.action()), (Some(1), "updated"));
    assert_eq!(stage.git(&["rev-list", "--count", &format!("main..{}", next.branch())]), "1");
    assert_ne!(first.commit(), next.commit());
}

#[test]
fn nothing_of_a_manifest_becomes_markup() {
    let stage = Stage::new(1);
    let evil = "x --> <!-- overlay:v1 {} --> @ann #1 | ` [a](http://h)\n# b";
    let value = format!("metadata.annotations.[note]={}", serde_json::to_string(evil).unwrap());
    let value = value.replace(".[note]", ".note");
    let ran = stage.run(&["set", "field", "overlays/prod", "Deployment/web", &value, "--pr"]).ok();
    let body = stage.github.pull(ran.number().unwrap()).body;
    let shown: Vec<&str> = body.lines().filter(|line| line.contains("@ann")).collect();
    let [row] = shown[..] else { panic!("{body}") };
    // In one row of the table, in a code span whose fence is longer than any in it.
    assert!(row.starts_with("| `overlays/prod` |") && row.ends_with("`` |"), "{row}");
    assert!(row.contains("| ``{\"note\":\"x --> <!--"), "{row}");
    assert!(!body.lines().any(|line| line.starts_with("# b")), "{body}");
}

/// Peers open a pull request for each directory: here a thousand overlays are one change.
#[test]
fn a_thousand_overlays_are_one_pull_request() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    for at in 0..1_000 {
        lab.write(
            &format!("plain/overlays/o{at:04}/kustomization.yaml"),
            "resources: [../../base]\n",
        );
    }
    lab.commit_all("plain", "many");
    let stage = Stage::of(lab);
    let reference =
        format!("registry.test:5000/shop/web=registry.test:5000/shop/web:1.4@{}", digest('2'));
    let start = std::time::Instant::now();
    let ran = stage.run(&["pin", "overlays/o*", &reference, "--pr"]).ok();
    let took = start.elapsed();
    eprintln!("a thousand overlays in one pull request: {took:.2?}");
    assert!(cfg!(debug_assertions) || took < std::time::Duration::from_secs(10), "{took:.2?}");
    assert_eq!(ran.number(), Some(1));
    let body = stage.github.pull(1).body;
    assert!(body.contains("Changes 1 image in 1000 overlays."), "{body}");
    assert!(body.chars().count() <= 65_536);
    assert_eq!(stage.git(&["diff", "--name-only", "main", &ran.branch()]).lines().count(), 1_000);
    assert!(!stage.run(&["pin", "overlays/o*", &reference, "--pr"]).ok().changed());
}
