//! The stories of waiting for Argo CD, told to the simulator: what must come of each is the stories' own
//! text, and not what the wait happens to say.

use super::git::{Commit, Hook};
use super::history::{Call, History, tell};
use super::objects::{CONFIG, DB, Object, REPORT, WEB};
use super::ours::{Story, fault, play};
use super::people::Act;
use super::plot::Plan;
use super::settings::{Automated, GeneratePaths, Settings, Sources, Version, Window};
use super::time::{HOUR, MINUTE, Millis, PUSHED, SECOND};
use overlay::argocd::Relation;

/// Tells a story of a change of `touched`.
fn told(settings: Settings, touched: &[Object], plan: Plan, call: Call) -> Story {
    told_of(settings, touched, |_| (), plan, call)
}

fn told_of(
    settings: Settings,
    touched: &[Object],
    adjust: impl FnOnce(&mut Commit),
    plan: Plan,
    call: Call,
) -> Story {
    let story = play(tell(settings, touched, adjust, plan, call), None);
    assert_eq!(fault(&story), None, "{:#?}", story.outcome);
    story
}

/// `ready`, or the word of the reason in the end.
fn end(story: &Story) -> &'static str {
    story.outcome.readiness.reason().map_or("ready", |reason| reason.kind.word())
}

fn took(story: &Story) -> Millis {
    story.server.world.now - story.call.starts
}

fn words(story: &Story) -> Vec<&'static str> {
    story.outcome.timeline.iter().map(|transition| transition.state).collect()
}

fn message(story: &Story) -> &str {
    story.outcome.readiness.reason().map_or("", |reason| &reason.message)
}

/// No automation: somebody must sync.
fn manual() -> Settings {
    Settings { automated: None, ..Settings::plain() }
}

#[test]
fn a_change_is_noticed_by_asking_and_is_done_when_it_is_live_and_healthy() {
    let unpolled = Settings { poll_period: 0, ..Settings::plain() };
    let story = told(unpolled, &[WEB], Vec::new(), Call::plain());
    assert_eq!(end(&story), "ready");
    assert!(words(&story).contains(&"not-noticed"), "{:?}", words(&story));
    assert_eq!(story.outcome.proof.unwrap().relation, Relation::Equal);
}

#[test]
fn healthy_and_out_of_sync_is_not_done() {
    let closed = Window { allow: false, from: PUSHED, to: PUSHED + HOUR, manual_sync: false };
    let settings = Settings { windows: vec![closed], ..Settings::plain() };
    let story = told(settings, &[CONFIG], Vec::new(), Call::plain());
    assert_eq!(end(&story), "sync-window", "{}", message(&story));
    assert!(!story.outcome.is_final, "the window can still open");
}

#[test]
fn a_sync_that_a_window_holds_is_not_done_although_every_revision_is_ours() {
    let closed = Window { allow: false, from: PUSHED, to: PUSHED + HOUR, manual_sync: false };
    let settings = Settings { windows: vec![closed], ..manual() };
    let plan = vec![(5 * SECOND, Act::SyncByHand)];
    let call = Call { starts: PUSHED + 30 * SECOND, ..Call::plain() };
    let story = told(settings, &[WEB], plan, call);
    assert_eq!(end(&story), "sync-window");
    assert!(message(&story).contains("window"), "{}", message(&story));
}

#[test]
fn a_window_that_opens_lets_it_be_done() {
    let closed = Window { allow: false, from: PUSHED, to: PUSHED + 4 * MINUTE, manual_sync: false };
    let settings = Settings { windows: vec![closed], ..Settings::plain() };
    let story = told(settings, &[WEB], Vec::new(), Call::plain());
    assert_eq!(end(&story), "ready");
    assert!(words(&story).contains(&"sync-window"), "{:?}", words(&story));
}

#[test]
fn a_push_on_top_that_keeps_the_change_is_success_and_named() {
    let story = told(Settings::plain(), &[WEB], vec![(0, Act::PushOther)], Call::plain());
    assert_eq!(end(&story), "ready");
    assert_eq!(story.outcome.proof.unwrap().relation, Relation::Descendant);
}

#[test]
fn a_push_on_top_that_takes_the_change_back_is_superseded() {
    let story = told(Settings::plain(), &[WEB], vec![(0, Act::PushRevert)], Call::plain());
    assert_eq!(end(&story), "superseded");
    let story = told(Settings::plain(), &[WEB], vec![(0, Act::PushOverride)], Call::plain());
    assert_eq!(end(&story), "superseded");
}

#[test]
fn what_cannot_be_rendered_fails_with_what_argo_cd_says_before_the_time_is_over() {
    let broken = |commit: &mut Commit| commit.broken = true;
    let story = told_of(Settings::plain(), &[WEB], broken, Vec::new(), Call::plain());
    assert_eq!(end(&story), "comparison-failed");
    assert!(message(&story).contains("kustomize build failed"), "{}", message(&story));
    assert!(took(&story) < 5 * MINUTE, "{}", took(&story));
}

#[test]
fn a_failure_of_rendering_that_is_mended_in_time_does_not_fail_it() {
    let plan = vec![(SECOND, Act::PushBroken), (5 * SECOND, Act::PushRepair)];
    let story = told(Settings::plain(), &[WEB], plan, Call::plain());
    assert_eq!(end(&story), "ready");
}

#[test]
fn of_several_sources_ours_is_judged() {
    let settings = Settings { sources: Sources::Several, ..Settings::plain() };
    assert_eq!(end(&told(settings, &[WEB], Vec::new(), Call::plain())), "ready");
}

#[test]
fn a_next_operation_is_no_failure() {
    let plan = vec![(8 * SECOND, Act::PushOther), (12 * SECOND, Act::SyncByHand)];
    assert_eq!(end(&told(Settings::plain(), &[WEB], plan, Call::plain())), "ready");
}

#[test]
fn a_hook_that_fails_after_the_sync_is_a_failure_although_synced_and_healthy() {
    let hook = Hook { lasts: MINUTE, succeeds: false };
    let failing = |commit: &mut Commit| commit.post_sync = Some(hook);
    let plan = vec![(2 * SECOND, Act::SyncByHand)];
    let story = told_of(manual(), &[WEB], failing, plan, Call::plain());
    assert_eq!(end(&story), "sync-failed");
    let hook = Hook { succeeds: true, ..hook };
    let passing = |commit: &mut Commit| commit.post_sync = Some(hook);
    let story = told_of(Settings::plain(), &[WEB], passing, Vec::new(), Call::plain());
    assert_eq!(end(&story), "ready");
    assert!(took(&story) > MINUTE, "not before the hook ended");
}

/// The change is live though the sync that brought it failed in a hook; `more` follows, in which a rollback changes nothing, and
/// the wait begins ten minutes after the push.
fn failed_sync(more: Plan) -> History {
    let failing = |commit: &mut Commit| {
        commit.post_sync = Some(Hook { lasts: MINUTE, succeeds: false });
    };
    let mut plan = vec![(2 * SECOND, Act::SyncByHand)];
    plan.extend(more);
    let call = Call { starts: PUSHED + 10 * MINUTE, ..Call::plain() };
    let mut history = tell(manual(), &[WEB], failing, plan, call);
    // What is applied first is refused, so that the old commit changes nothing.
    history.world.git.change(0).refused = Some(CONFIG);
    history
}

#[test]
fn a_failed_sync_counts_for_as_long_as_the_application_shows_it() {
    let story = play(failed_sync(Vec::new()), None);
    assert_eq!((end(&story), fault(&story)), ("sync-failed", None));
    let story = play(failed_sync(vec![(8 * MINUTE, Act::Rollback)]), None);
    assert_eq!((end(&story), fault(&story)), ("ready", None), "{}", message(&story));
}

/// Who does not look at the operation is wrong about what is shown, and about what was shown while they waited.
#[test]
fn a_failed_sync_that_was_to_be_seen_makes_a_success_false() {
    let blind = Some("operation-succeeded");
    let false_success = Some("false success: the operation did not end well".to_owned());
    assert_eq!(fault(&play(failed_sync(Vec::new()), blind)), false_success);
    let while_it_waits = vec![(10 * MINUTE + 5 * SECOND, Act::Rollback)];
    assert_eq!(fault(&play(failed_sync(while_it_waits), blind)), false_success);
}

/// The rollback is asked for and not begun when the wait begins, for the controller is away: the failure is to be seen, and is not
/// when everything else has come to rest.
fn rollback_in_waiting() -> Plan {
    let before = 10 * MINUTE - 5 * SECOND;
    vec![(before, Act::Outage(20 * SECOND)), (before + SECOND, Act::Rollback)]
}

#[test]
fn a_failed_sync_that_was_seen_counts_when_another_has_taken_its_place() {
    let story = play(failed_sync(rollback_in_waiting()), None);
    assert_eq!((end(&story), fault(&story)), ("sync-failed", None), "{}", message(&story));
    assert!(message(&story).contains("none of the commit has succeeded"), "{}", message(&story));
    let blind = play(failed_sync(rollback_in_waiting()), Some("earlier-operations-succeeded"));
    let false_success = Some("false success: the operation did not end well".to_owned());
    assert_eq!(fault(&blind), false_success);
}

#[test]
fn a_failed_sync_that_was_seen_is_forgotten_when_one_of_the_commit_succeeds() {
    let mut plan = rollback_in_waiting();
    // A commit without the hook that failed, which the wait itself syncs.
    plan.push((5 * MINUTE, Act::PushOther));
    let mut history = failed_sync(plan);
    history.call.syncs = true;
    let story = play(history, None);
    assert_eq!((end(&story), fault(&story)), ("ready", None), "{}", message(&story));
}

#[test]
fn what_was_done_long_ago_is_done_at_the_first_read() {
    let call = Call { starts: PUSHED + HOUR, ..Call::plain() };
    let story = told(Settings::plain(), &[WEB], Vec::new(), call);
    assert_eq!(end(&story), "ready");
    assert!(took(&story) < 2 * SECOND, "{}", took(&story));
}

#[test]
fn a_refresh_that_is_swallowed_is_asked_for_again() {
    let settings = Settings {
        version: Version::V2_14,
        poll_period: 0,
        lost_refresh: true,
        slow_compare: 12 * SECOND,
        ..Settings::plain()
    };
    for lead in 0..10 {
        let call = Call { starts: PUSHED + lead * 700, ..Call::plain() };
        let plan = vec![(0, Act::Refresh { hard: false })];
        let story = told(settings.clone(), &[WEB], plan, call);
        assert_eq!(end(&story), "ready", "lead {lead}");
    }
}

#[test]
fn a_status_about_another_spec_is_not_believed() {
    let blue = super::application::Spec { prod: true, destination: 1 };
    let call = Call { starts: PUSHED + 10 * MINUTE + 20, ..Call::plain() };
    let heals = Some(Automated { prune: true, self_heal: true });
    let settings = Settings { automated: heals, ..Settings::plain() };
    let story = told(settings, &[WEB], vec![(10 * MINUTE, Act::Repoint(blue))], call);
    assert_eq!(end(&story), "ready");
    assert!(took(&story) > 10 * SECOND, "the new place must be deployed first");
    let staging = super::application::Spec { prod: false, destination: 0 };
    let story = told(Settings::plain(), &[WEB], vec![(0, Act::Repoint(staging))], call);
    assert_eq!(end(&story), "wrong-application");
}

#[test]
fn a_branch_that_is_gone_fails_although_revision_and_operation_match() {
    let call = Call { starts: PUSHED + 5 * MINUTE, ..Call::plain() };
    let plan =
        vec![(4 * MINUTE, Act::DeleteBranch), (4 * MINUTE + 9, Act::Refresh { hard: false })];
    let story = told(Settings::plain(), &[WEB], plan, call);
    assert_eq!(end(&story), "comparison-failed");
    assert!(message(&story).contains("unable to resolve 'main'"), "{}", message(&story));
}

#[test]
fn a_history_that_was_rewritten_fails() {
    let plan = vec![(0, Act::ForcePushAway)];
    assert_eq!(end(&told(Settings::plain(), &[WEB], plan, Call::plain())), "rewritten");
}

#[test]
fn where_nobody_syncs_that_is_said_at_once_and_sync_does_it() {
    let story = told(manual(), &[WEB], Vec::new(), Call::plain());
    assert_eq!((end(&story), story.outcome.is_final), ("manual", true));
    assert!(took(&story) < MINUTE, "{}", took(&story));
    let call = Call { syncs: true, ..Call::plain() };
    assert_eq!(end(&told(manual(), &[WEB], Vec::new(), call)), "ready");
}

#[test]
fn a_commit_that_cannot_arrive_is_told() {
    let settings = Settings { pinned: Some(String::new()), ..Settings::plain() };
    let story = told(settings, &[WEB], Vec::new(), Call::plain());
    assert_eq!((end(&story), story.outcome.is_final), ("pinned", true));
}

#[test]
fn an_ignored_field_that_was_not_applied_is_no_success() {
    let settings = Settings { ignored_difference: true, ..Settings::plain() };
    let story = told(settings, &[WEB], Vec::new(), Call::plain());
    assert_eq!(end(&story), "effect-ignored", "{}", message(&story));
}

#[test]
fn what_was_degraded_before_is_not_blamed_on_the_change() {
    let mut history = tell(
        Settings::plain(),
        &[WEB],
        |_| (),
        Vec::new(),
        Call { starts: PUSHED, ..Call::plain() },
    );
    history.world.crash(0, REPORT, 2 * HOUR);
    let broken = history.world.now + 5 * SECOND;
    history.world.advance(broken);
    let call = Call { starts: broken, ..history.call };
    let story = play(History { call, ..history }, None);
    assert_eq!(end(&story), "degraded-before");
}

#[test]
fn a_database_that_rolls_through_degraded_is_waited_for() {
    let settings = Settings { stale_health: true, slow_rollout: 40 * SECOND, ..Settings::plain() };
    let story = told(settings, &[DB], Vec::new(), Call::plain());
    assert_eq!(end(&story), "ready");
}

#[test]
fn an_application_that_is_deleted_or_another_one_is_gone() {
    let home = super::application::Spec { prod: true, destination: 0 };
    for act in [Act::Delete, Act::Replace(home)] {
        let plan = vec![(3 * SECOND, act.clone())];
        assert_eq!(end(&told(Settings::plain(), &[WEB], plan, Call::plain())), "gone", "{act:?}");
    }
}

#[test]
fn a_skipped_application_is_told_at_once() {
    let story = told(Settings::plain(), &[WEB], vec![(0, Act::Skip(true))], Call::plain());
    assert_eq!(end(&story), "skipped");
}

#[test]
fn an_old_commit_synced_by_hand_after_the_comparison_is_no_success() {
    for lag in 0..8 {
        let call = Call { starts: PUSHED + 10 * MINUTE + lag * 600, ..Call::plain() };
        let plan = vec![(5 * SECOND, Act::SyncByHand), (10 * MINUTE, Act::Rollback)];
        let slow = Settings { slow_compare: 12 * SECOND, ..manual() };
        let story = told(slow, &[WEB], plan, call);
        assert_eq!(end(&story), "manual", "lag {lag}: {:?}", words(&story));
    }
}

#[test]
fn a_controller_that_is_away_and_comes_back_is_waited_for() {
    let plan = vec![(0, Act::Outage(4 * MINUTE))];
    let story = told(Settings::plain(), &[WEB], plan, Call::plain());
    assert_eq!(end(&story), "ready");
    assert!(words(&story).contains(&"controller-silent"), "{:?}", words(&story));
}

fn hydrated(version: Version) -> Settings {
    Settings { version, hydrator: true, ..Settings::plain() }
}

#[test]
fn what_a_hydrator_renders_is_waited_for() {
    for version in [Version::V3_1, Version::V3_5, Version::V3_6] {
        let story = told(hydrated(version), &[WEB], Vec::new(), Call::plain());
        assert_eq!(end(&story), "ready", "{}", message(&story));
        assert!(words(&story).contains(&"hydrating"), "{:?}", words(&story));
        let read = &story.server.read.as_ref().unwrap().app.status.revision;
        let (_, dry) = story.server.world.git.find_hydrated(read).expect("a rendered commit");
        assert!(story.server.world.git.contains(story.server.world.truth.change, dry));
    }
}

#[test]
fn a_hydrator_that_cannot_render_fails_with_what_it_says() {
    let call = Call::plain();
    let broken = |commit: &mut Commit| commit.broken = true;
    let story = told_of(hydrated(Version::V3_5), &[WEB], broken, Vec::new(), call);
    assert_eq!(end(&story), "hydration-failed");
    assert!(message(&story).contains("kustomize build failed"), "{}", message(&story));
}

#[test]
fn a_later_commit_that_takes_the_change_back_is_told_of_what_is_hydrated_too() {
    let call = Call { effect_readable: false, ..Call::plain() };
    let story = told(hydrated(Version::V3_5), &[WEB], vec![(0, Act::PushRevert)], call);
    assert_eq!(end(&story), "superseded", "{}", message(&story));
}

/// The paths that are said to count leave out the base that the commit changes: the hydrator looks, and renders nothing.
#[test]
fn a_commit_that_a_hydrator_has_looked_at_and_not_rendered_is_no_success() {
    let settings = Settings { generate_paths: GeneratePaths::OmitsBase, ..hydrated(Version::V3_5) };
    let in_base = |commit: &mut Commit| commit.in_base = true;
    let call = Call { effect_readable: false, ..Call::plain() };
    let story = told_of(settings, &[WEB], in_base, Vec::new(), call);
    assert_eq!(end(&story), "hydrating");
    assert!(message(&story).contains("not rendered"), "{}", message(&story));
}

#[test]
fn an_object_that_another_application_has_too_is_named_with_it() {
    let settings = Settings { shared: true, ..Settings::plain() };
    let call = Call { starts: PUSHED + 10 * MINUTE, ..Call::plain() };
    let story = told(settings, &[CONFIG], Vec::new(), call);
    assert_eq!(end(&story), "object-excluded", "{}", message(&story));
    assert!(message(&story).contains("argocd/prod and other"), "{}", message(&story));
}
