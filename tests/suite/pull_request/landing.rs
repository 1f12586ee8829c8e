//! `--wait-merge` and `--merge`: what the base branch holds in the end decides, whoever brought it there and however.

use std::process::Stdio;
use std::time::Duration;

use crate::support::github::Trouble;
use crate::support::hub::{How, Rules, Verdict};

use super::*;

/// Pins and waits; `act` happens once the pull request is open and was looked at.
fn while_waiting(stage: &Stage, digit: char, more: &[&str], act: impl FnOnce(&Stage)) -> Ran {
    let reference = pin("shop/app0", digit);
    let mut args = vec!["pin", "overlays/prod", reference.as_str(), "--pr", "--timeout", "60s"];
    args.extend(more);
    let mut command = stage.command(&args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let looks = stage.github.looks();
    let child = command.spawn().unwrap();
    for _ in 0..3_000 {
        if stage.github.looks() > looks {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    act(stage);
    stage.finish(child.wait_with_output().unwrap())
}

impl Ran {
    fn state(&self) -> &str {
        self.json["result"]["pullRequest"]["state"].as_str().unwrap_or_default()
    }

    fn merge_commit(&self) -> Option<&str> {
        self.json["result"]["pullRequest"]["mergeCommit"].as_str()
    }

    fn landed(&self) -> Option<&str> {
        self.json["result"]["landed"]["commit"].as_str()
    }

    fn message(&self) -> &str {
        self.json["error"]["message"].as_str().unwrap_or_default()
    }
}

impl Stage {
    /// `main` has the commit, and the file has the digest there.
    fn require_landed(&self, ran: &Ran, digit: char) {
        let commit = ran.landed().unwrap_or_else(|| panic!("{}", ran.text)).to_owned();
        self.git(&["merge-base", "--is-ancestor", &commit, "main"]);
        let file = self.git(&["show", &format!("{commit}:{PROD}")]);
        assert!(file.contains(&digest(digit)), "{file}");
        let before = self.git(&["show", &format!("{commit}^1:{PROD}")]);
        assert!(!before.contains(&digest(digit)), "not the commit that brought it: {before}");
        self.github.calls();
    }

    fn rules(&self, rules: Rules) {
        self.github.hub(|hub| hub.rules = rules);
    }
}

fn required(names: &[&str]) -> Rules {
    let checks = names.iter().map(|name| (*name).to_owned()).collect();
    Rules { checks, ..Rules::default() }
}

#[test]
fn a_person_merges_by_any_method() {
    for how in [How::Merge, How::Squash, How::Rebase] {
        let stage = Stage::new(1);
        let mut merged = None;
        let ran = while_waiting(&stage, '2', &["--wait-merge"], |stage| {
            stage.person("main", "README", "moved");
            merged = stage.github.hub(|hub| hub.merge(1, how));
        })
        .ok();
        assert_eq!((ran.number(), ran.action(), ran.state()), (Some(1), "opened", "merged"));
        assert_eq!(ran.merge_commit(), merged.as_deref(), "{how:?} {}", ran.text);
        stage.require_landed(&ran, '2');
        // The same again: it is so already, and the commit is the same.
        let again = stage.pin('2', &["--wait-merge"]).ok();
        assert!(!again.changed(), "{}", again.text);
        assert_eq!((again.number(), again.state()), (Some(1), "merged"));
        assert_eq!(again.landed(), merged.as_deref());
    }
}

#[test]
fn it_merges_by_the_method_asked_for_or_the_one_of_the_repository() {
    for (methods, flag, parents) in [
        (vec![], None, 2),
        (vec![How::Squash], None, 1),
        (vec![], Some("squash"), 1),
        (vec![How::Merge, How::Rebase], Some("rebase"), 1),
    ] {
        let stage = Stage::new(1);
        stage.rules(Rules { methods, ..Rules::default() });
        let more: Vec<&str> =
            ["--merge"].into_iter().chain(flag.map(|_| "--merge-method")).chain(flag).collect();
        let ran = stage.pin('2', &more).ok();
        assert_eq!((ran.state(), ran.action()), ("merged", "opened"), "{}", ran.text);
        assert_eq!(ran.merge_commit(), stage.at("main").as_deref());
        let list = stage.git(&["rev-list", "--parents", "-1", "main"]);
        assert_eq!(list.split(' ').count() - 1, parents, "{flag:?}");
        stage.require_landed(&ran, '2');
        assert!(!stage.pin('2', &more).ok().changed());
    }
}

#[test]
fn a_method_that_is_not_allowed_is_refused_in_the_words_of_the_forge() {
    let stage = Stage::new(1);
    stage.rules(Rules { methods: vec![How::Squash], ..Rules::default() });
    let ran = stage.pin('2', &["--merge", "--merge-method", "rebase"]);
    assert_eq!((ran.status, ran.code()), (5, "merge-refused"), "{}", ran.text);
    assert!(ran.message().contains("not allowed on this repository"), "{}", ran.text);
    assert_eq!((ran.number(), ran.state(), ran.landed()), (Some(1), "open", None));
    // With another method the same command goes on from there.
    let ran = stage.pin('2', &["--merge"]).ok();
    assert_eq!((ran.number(), ran.action(), ran.state()), (Some(1), "unchanged", "merged"));
    assert!(ran.changed(), "it merged");
}

#[test]
fn required_checks_are_waited_for_with_and_without_auto_merge() {
    for allows_by_itself in [true, false] {
        let stage = Stage::new(1);
        stage.rules(Rules { allows_by_itself, ..required(&["unit", "render"]) });
        let ran = while_waiting(&stage, '2', &["--merge"], |stage| {
            std::thread::sleep(Duration::from_millis(700));
            stage.github.hub(|hub| {
                assert_eq!(hub.find(1).unwrap().by_itself.is_some(), allows_by_itself);
                hub.check(1, "unit", Verdict::Good);
                hub.check(1, "render", Verdict::Good);
            });
        })
        .ok();
        assert_eq!(ran.state(), "merged", "{}", ran.text);
        stage.require_landed(&ran, '2');
    }
}

#[test]
fn a_queue_is_gone_through() {
    let stage = Stage::new(1);
    stage.rules(Rules { has_queue: true, ..required(&["unit"]) });
    let ran = while_waiting(&stage, '2', &["--merge"], |stage| {
        stage.github.hub(|hub| hub.check(1, "unit", Verdict::Good));
    })
    .ok();
    assert_eq!(ran.state(), "merged", "{}", ran.text);
    stage.require_landed(&ran, '2');
    let calls = stage.github.writes();
    assert!(!calls.iter().any(|call| call.contains("/merge")), "{calls:?}");
}

#[test]
fn failing_checks_that_are_required_are_named() {
    let stage = Stage::new(1);
    stage.rules(required(&["unit", "render"]));
    for flag in ["--wait-merge", "--merge"] {
        let ran = while_waiting(&stage, '2', &[flag], |stage| {
            stage.github.hub(|hub| {
                hub.check(1, "unit", Verdict::Bad);
                hub.check(1, "render", Verdict::Good);
                hub.check(1, "spelling", Verdict::Bad);
            });
        });
        assert_eq!((ran.status, ran.code(), ran.state()), (5, "checks-failed", "open"));
        assert!(ran.message().ends_with("failed: unit"), "{}", ran.message());
    }
    // Once it passes, the same command goes on; what is not required does not matter.
    stage.github.hub(|hub| hub.check(1, "unit", Verdict::Good));
    let ran = stage.pin('2', &["--merge"]).ok();
    assert_eq!((ran.number(), ran.state()), (Some(1), "merged"));
}

#[test]
fn where_nothing_is_required_all_checks_decide_over_a_merge_of_ours() {
    let stage = Stage::new(1);
    let ran = while_waiting(&stage, '2', &["--wait-merge"], |stage| {
        stage.github.hub(|hub| {
            hub.check(1, "unit", Verdict::Bad);
            hub.merge(1, How::Squash);
        });
    });
    assert_eq!((ran.status, ran.state()), (0, "merged"), "a person may");
    stage.pin('3', &[]).ok();
    stage.github.hub(|hub| hub.check(2, "unit", Verdict::Bad));
    let ran = stage.pin('3', &["--merge"]);
    assert_eq!((ran.status, ran.code()), (5, "checks-failed"), "{}", ran.text);
}

#[test]
fn a_pull_request_that_is_closed_ends_the_wait() {
    let stage = Stage::new(1);
    let ran = while_waiting(&stage, '2', &["--wait-merge"], |stage| {
        stage.github.hub(|hub| hub.find(1).unwrap().is_open = false);
    });
    assert_eq!((ran.status, ran.code(), ran.state()), (5, "pull-request-closed", "closed"));
    assert_eq!((ran.json["ok"].as_bool(), ran.landed()), (Some(false), None));
    // The same again proposes it anew.
    let ran = while_waiting(&stage, '2', &["--wait-merge"], |stage| {
        stage.github.hub(|hub| hub.merge(2, How::Squash));
    })
    .ok();
    assert_eq!((ran.number(), ran.state()), (Some(2), "merged"));
    // Closed by a robot that pushed the change itself: the branch has it, and that counts.
    let mut pushed = String::new();
    let ran = while_waiting(&stage, '3', &["--wait-merge"], |stage| {
        let branch = stage.github.pull(3).head_branch;
        let tree = stage.git(&["rev-parse", &format!("{branch}^{{tree}}")]);
        pushed = stage.git(&["commit-tree", &tree, "-p", "main", "-m", "landed by a robot"]);
        stage.git(&["update-ref", "refs/heads/main", &pushed]);
        stage.github.hub(|hub| hub.find(3).unwrap().is_open = false);
    })
    .ok();
    assert_eq!((ran.landed(), ran.state()), (Some(pushed.as_str()), "closed"), "{}", ran.text);
    assert_eq!(ran.merge_commit(), None);
}

#[test]
fn a_change_that_came_another_way_is_found_though_the_pull_request_is_open() {
    let stage = Stage::new(1);
    let mut pushed = String::new();
    let ran = while_waiting(&stage, '2', &["--wait-merge"], |stage| {
        let branch = stage.github.pull(1).head_branch;
        let tree = stage.git(&["rev-parse", &format!("{branch}^{{tree}}")]);
        pushed = stage.git(&["commit-tree", &tree, "-p", "main", "-m", "by hand"]);
        stage.git(&["update-ref", "refs/heads/main", &pushed]);
    })
    .ok();
    assert_eq!((ran.landed(), ran.state()), (Some(pushed.as_str()), "closed"), "{}", ran.text);
    assert!(!stage.github.pull(1).is_open);
}

/// Somebody edits the line before: git cannot merge it, and the edit can be made again.
#[test]
fn conflicts_are_solved_by_making_the_edit_again() {
    for flag in ["--wait-merge", "--merge"] {
        let stage = Stage::new(1);
        // What keeps a merge of ours from being done before there is a conflict.
        stage.rules(required(&["unit"]));
        let mut old = None;
        let ran = while_waiting(&stage, '2', &[flag], |stage| {
            let branch = stage.github.pull(1).head_branch;
            old = stage.at(&branch);
            let text = format!(
                "resources: [../../base]\nimages:\n# by hand\n- name: shop/app0 # ours\n  digest: {} # one\n",
                digest('1')
            );
            stage.replace("main", PROD, &text);
            for _ in 0..3_000 {
                if stage.at(&branch) != old {
                    break;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            assert_ne!(stage.at(&branch), old, "made again");
            stage.github.hub(|hub| {
                hub.check(1, "unit", Verdict::Good);
                if flag == "--wait-merge" {
                    hub.merge(1, How::Squash).unwrap();
                }
            });
        })
        .ok();
        assert_eq!((ran.number(), ran.state()), (Some(1), "merged"), "{}", ran.text);
        stage.require_landed(&ran, '2');
        let file = stage.git(&["show", &format!("main:{PROD}")]);
        assert!(file.contains("# by hand") && file.contains("# ours"), "{file}");
        assert!(stage.git(&["rev-list", "--count", "main"]).parse::<u32>().unwrap() > 3);
    }
}

/// C120 in a pull request: the base branch got another value meanwhile, and nobody's value is written over unseen.
#[test]
fn another_value_on_the_base_branch_stops_it() {
    let stage = Stage::new(1);
    stage.rules(required(&["unit"]));
    let ran = while_waiting(&stage, '2', &["--merge"], |stage| {
        let text = format!(
            "resources: [../../base]\nimages:\n- name: shop/app0\n  digest: {}\n",
            digest('7')
        );
        stage.replace("main", PROD, &text);
    });
    assert_eq!((ran.status, ran.code()), (5, "pull-request-conflicts"), "{}", ran.text);
    assert!(
        ran.message().contains(&digest('7')) && ran.message().contains(&digest('2')),
        "{}",
        ran.message()
    );
    assert!(stage.git(&["show", &format!("main:{PROD}")]).contains(&digest('7')));
}

#[test]
fn conflicts_with_commits_of_others_are_theirs_to_solve() {
    let stage = Stage::new(1);
    let branch = stage.pin('2', &[]).ok().branch();
    let reviewed = stage.person(&branch, PROD, "# reviewed");
    stage.person("main", PROD, "# moved");
    let ran = stage.pin('2', &["--merge"]);
    assert_eq!((ran.status, ran.code()), (5, "pull-request-conflicts"), "{}", ran.text);
    assert_eq!(stage.at(&branch), Some(reviewed));
}

#[test]
fn the_wait_ends_in_time_and_says_what_is_missing() {
    let stage = Stage::new(1);
    let wait = |more: &[&str]| {
        let args = [&["--wait-merge", "--timeout", "2s"][..], more].concat();
        stage.pin('2', &args)
    };
    let ran = wait(&["--draft"]);
    assert_eq!((ran.status, ran.code(), ran.number()), (6, "not-merged", Some(1)));
    assert!(ran.message().contains("it is a draft"), "{}", ran.message());
    stage.github.hub(|hub| {
        hub.find(1).unwrap().is_draft = false;
        hub.rules.needs_review = true;
    });
    assert!(wait(&[]).message().contains("a review is missing"));
    stage.github.hub(|hub| hub.find(1).unwrap().review = Some(false));
    assert!(wait(&[]).message().contains("asks for changes"));
    stage.github.hub(|hub| {
        hub.find(1).unwrap().review = Some(true);
        hub.rules.checks = vec!["unit".into()];
    });
    assert!(wait(&[]).message().contains("checks have not ended: unit"));
    stage.github.hub(|hub| hub.rules.checks.clear());
    assert!(wait(&[]).message().contains("nobody has merged it"));
}

/// The word of the forge is not enough.
#[test]
fn a_merge_that_does_not_bring_the_change_is_a_failure() {
    let stage = Stage::new(1);
    let ran = while_waiting(&stage, '2', &["--wait-merge"], |stage| {
        let tip = stage.at("main");
        stage.github.hub(|hub| {
            let pull = hub.find(1).unwrap();
            (pull.is_open, pull.merged) = (false, tip);
        });
    });
    assert_eq!(
        (ran.status, ran.code(), ran.landed()),
        (5, "merged-otherwise", None),
        "{}",
        ran.text
    );
    // A reviewer changed the value before the merge.
    let stage = Stage::new(1);
    let ran = while_waiting(&stage, '2', &["--wait-merge"], |stage| {
        let branch = stage.github.pull(1).head_branch;
        let text = format!(
            "resources: [../../base]\nimages:\n- name: shop/app0\n  digest: {}\n",
            digest('9')
        );
        stage.replace(&branch, PROD, &text);
        stage.github.hub(|hub| hub.merge(1, How::Squash));
    });
    assert_eq!((ran.status, ran.code()), (5, "merged-otherwise"), "{}", ran.text);
}

/// What somebody pushes to the branch while it waits is looked at before it is merged.
#[test]
fn a_reviewers_commit_is_merged_with_it_and_a_taken_back_edit_is_made_again() {
    let stage = Stage::new(1);
    stage.rules(required(&["unit"]));
    let ran = while_waiting(&stage, '2', &["--merge"], |stage| {
        let branch = stage.github.pull(1).head_branch;
        stage.person(&branch, "base/web.yaml", "# reviewed");
        let text = format!(
            "resources: [../../base]\nimages:\n- name: shop/app0\n  digest: {}\n",
            digest('1')
        );
        let undone = stage.replace(&branch, PROD, &text);
        for _ in 0..3_000 {
            if stage.at(&branch).as_ref() != Some(&undone) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        stage.github.hub(|hub| hub.check(1, "unit", Verdict::Good));
    })
    .ok();
    assert_eq!(ran.state(), "merged", "{}", ran.text);
    stage.require_landed(&ran, '2');
    assert!(stage.git(&["show", "main:base/web.yaml"]).contains("# reviewed"));
}

#[test]
fn a_branch_that_has_to_be_up_to_date_is_brought_there() {
    for is_reviewed in [false, true] {
        let stage = Stage::new(1);
        stage.rules(Rules { is_strict: true, ..Rules::default() });
        let branch = stage.pin('2', &[]).ok().branch();
        if is_reviewed {
            stage.person(&branch, "base/web.yaml", "# reviewed");
        }
        stage.person("main", "README", "moved");
        let ran = stage.pin('2', &["--merge"]).ok();
        assert_eq!((ran.number(), ran.state()), (Some(1), "merged"), "{is_reviewed} {}", ran.text);
        assert!(stage.git(&["show", "main:README"]).contains("moved"));
        stage.require_landed(&ran, '2');
    }
}

#[test]
fn bad_days_of_the_forge_do_not_end_the_wait() {
    let stage = Stage::new(1);
    stage.github.fail("POST", "/graphql", Trouble::Status(502, vec![], "Bad Gateway"));
    stage.github.fail("POST", "/graphql", Trouble::Lost);
    // The merge is done, and its answer is lost.
    stage.github.fail("PUT", "/merge", Trouble::Lost);
    let ran = stage.pin('2', &["--merge"]).ok();
    assert_eq!(ran.state(), "merged", "{}", ran.text);
    stage.require_landed(&ran, '2');
}

#[test]
fn an_address_is_enough() {
    let stage = Stage::new(1);
    std::fs::create_dir(stage.lab.path("empty")).unwrap();
    let remote = stage.github.remote(REPOSITORY);
    let reference = pin("shop/app0", '2');
    let args = ["pin", "overlays/prod", &reference, "--pr", "--merge", "--remote", &remote];
    let run = || stage.finish(stage.command_in("empty", &args).output().unwrap()).ok();
    let ran = run();
    assert_eq!((ran.state(), ran.landed()), ("merged", stage.at("main").as_deref()));
    assert_eq!((run().changed(), run().landed()), (false, stage.at("main").as_deref()));
}

#[test]
fn what_contradicts_itself_is_wrong_usage() {
    let stage = Stage::new(1);
    for args in [&["--draft", "--merge"][..], &["--merge-method", "squash"]] {
        assert_eq!(stage.pin('2', args).status, 2, "{args:?}");
    }
    let reference = pin("shop/app0", '2');
    for flag in ["--wait-merge", "--merge"] {
        let ran = stage.run(&["pin", "overlays/prod", &reference, flag]);
        assert_eq!((ran.status, ran.code()), (2, "usage"), "{}", ran.text);
    }
}
