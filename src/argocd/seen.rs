//! The operations that were seen: an Application shows the last one alone, and how one before it ended is forgotten with it.

use super::application::{OperationState, SyncResult};

/// The operations that Applications showed, each as it was shown last.
#[derive(Clone, Debug, Default)]
pub struct SeenOperations {
    /// In the order in which they began.
    states: Vec<OperationState>,
}

impl SeenOperations {
    /// Takes in what an Application shows now. A dry run, a sync of some objects only, and one of which no revision is known say
    /// nothing of what is in the cluster as a whole, and are left out.
    pub fn see(&mut self, shown: Option<&OperationState>) {
        let is_whole =
            |state: &&OperationState| !state.operation.sync.dry_run && !state.is_partial();
        let Some(shown) = shown.filter(is_whole) else { return };
        let before = self.states.iter().position(|state| state.is_of_same_operation(shown));
        let before = before.map(|at| self.states.remove(at));
        // The next try of an operation begins without a result, and one that was given up at a restart has lost it.
        let asked = &shown.operation.sync;
        let asked = SyncResult {
            revision: asked.revision.clone(),
            revisions: asked.revisions.clone(),
            resources: Vec::new(),
        };
        let before = before.and_then(|state| state.sync_result);
        let results = [shown.sync_result.clone(), before, Some(asked)];
        let Some(mut result) = results.into_iter().flatten().find(has_revision) else { return };
        result.resources.retain(|resource| resource.is_bad());
        if is_over(shown) {
            self.states.retain(|state| !is_of_same_revision(state, &result));
        }
        self.states.push(OperationState { sync_result: Some(result), ..shown.clone() });
    }

    /// All of them, the last one first.
    pub fn last_first(&self) -> impl Iterator<Item = &OperationState> {
        self.states.iter().rev()
    }
}

fn is_over(state: &OperationState) -> bool {
    state.is_success() || state.is_failure()
}

fn has_revision(result: &SyncResult) -> bool {
    !result.revision.is_empty() || !result.revisions.is_empty()
}

fn is_of_same_revision(state: &OperationState, result: &SyncResult) -> bool {
    let of = |result: &SyncResult| (result.revision.clone(), result.revisions.clone());
    state.sync_result.as_ref().map(of) == Some(of(result))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn state(started: u32, revision: &str, phase: &str) -> OperationState {
        let mut text =
            json!({"phase": phase, "startedAt": format!("2024-05-01T10:00:{started:02}Z")});
        if phase != "Running" {
            text["finishedAt"] = json!("2024-05-01T10:01:00Z");
        }
        if !revision.is_empty() {
            text["syncResult"] = json!({"revision": revision});
        }
        serde_json::from_value(text).unwrap()
    }

    /// Revision and phase of each, the last one first.
    fn told(seen: &SeenOperations) -> Vec<String> {
        let one = |state: &OperationState| {
            format!("{} {}", state.sync_result.as_ref().unwrap().revision, state.phase)
        };
        seen.last_first().map(one).collect()
    }

    fn seen(states: &[OperationState]) -> SeenOperations {
        let mut seen = SeenOperations::default();
        states.iter().for_each(|state| seen.see(Some(state)));
        seen
    }

    #[test]
    fn each_operation_is_kept_as_it_was_shown_last() {
        let all = [state(1, "", "Running"), state(1, "a", "Running"), state(9, "b", "Failed")];
        assert_eq!(told(&seen(&all)), ["b Failed", "a Running"]);
        let ended = [state(1, "a", "Running"), state(1, "a", "Succeeded")];
        assert_eq!(told(&seen(&ended)), ["a Succeeded"]);
    }

    #[test]
    fn a_try_without_a_result_keeps_the_revision_of_the_one_before() {
        let tries = [state(1, "a", "Running"), state(1, "", "Running"), state(1, "", "Error")];
        assert_eq!(told(&seen(&tries)), ["a Error"]);
    }

    /// As a defect of the controller leaves it (argo-cd issue 29636), and as it is before the first pass.
    #[test]
    fn one_without_any_result_has_the_revision_that_was_asked_for() {
        let mut given_up = state(1, "", "Succeeded");
        given_up.operation.sync.revision = "a".to_owned();
        given_up.finished_at = None;
        let rollback = state(9, "b", "Failed");
        assert_eq!(told(&seen(&[given_up.clone(), rollback])), ["b Failed", "a Succeeded"]);
        assert!(!given_up.is_success());
    }

    #[test]
    fn the_end_of_a_later_one_replaces_that_of_an_earlier_one_at_its_revision() {
        let again = [state(1, "a", "Failed"), state(5, "b", "Failed"), state(9, "a", "Running")];
        assert_eq!(told(&seen(&again)), ["a Running", "b Failed", "a Failed"]);
        let ended = [&again[..], &[state(9, "a", "Succeeded")]].concat();
        assert_eq!(told(&seen(&ended)), ["a Succeeded", "b Failed"]);
    }

    #[test]
    fn what_does_not_apply_everything_is_left_out() {
        let with = |request: Value| {
            let mut state = state(1, "a", "Failed");
            state.operation = serde_json::from_value(json!({ "sync": request })).unwrap();
            state
        };
        assert!(told(&seen(&[with(json!({"dryRun": true}))])).is_empty());
        assert!(told(&seen(&[with(json!({"resources": [{"kind": "Job"}]}))])).is_empty());
        assert!(told(&seen(&[state(1, "", "Error")])).is_empty());
        assert_eq!(told(&seen(&[with(json!({}))])), ["a Failed"]);
    }
}
