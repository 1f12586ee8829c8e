//! Sync windows as the project states them, for where no API server works them out: which of them are about an
//! Application, and which are open at a moment.
//!
//! Source: argo-cd `pkg/apis/application/v1alpha1/types.go` (`SyncWindows.Matches`, `SyncWindow.active`), and the cron
//! notation of robfig/cron with its five fields.

mod schedule;

use globset::GlobBuilder;
use serde::Deserialize;

use super::application::Application;
use super::port::{SyncWindow, SyncWindows, Trouble};
use schedule::{Schedule, seconds_of_duration};

/// An AppProject, as far as its windows go.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Project {
    spec: ProjectSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ProjectSpec {
    sync_windows: Option<Vec<Window>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Window {
    kind: String,
    schedule: String,
    duration: String,
    applications: Option<Vec<String>>,
    namespaces: Option<Vec<String>>,
    clusters: Option<Vec<String>>,
    time_zone: String,
    and_operator: bool,
}

impl Project {
    /// The windows that are about `app`, and those of them that are open at `now`, in seconds since 1970.
    ///
    /// # Errors
    /// [`Trouble::NotServed`] where one is in a time zone other than UTC, and [`Trouble::Invalid`] where one cannot be read.
    pub(super) fn windows_of(&self, app: &Application, now: u64) -> Result<SyncWindows, Trouble> {
        let mut windows = SyncWindows::default();
        for window in self.spec.sync_windows.iter().flatten().filter(|window| window.is_about(app))
        {
            if window.is_open(now)? {
                windows.active.push(window.shown());
            }
            windows.assigned.push(window.shown());
        }
        Ok(windows)
    }
}

impl Window {
    fn shown(&self) -> SyncWindow {
        SyncWindow {
            kind: self.kind.clone(),
            schedule: self.schedule.clone(),
            duration: self.duration.clone(),
        }
    }

    /// By default one list that names the Application is enough; with `andOperator` each that is there has to.
    fn is_about(&self, app: &Application) -> bool {
        let destination = &app.spec.destination;
        let lists = [
            (&self.applications, vec![&app.metadata.name]),
            (&self.clusters, vec![&destination.name, &destination.server]),
            (&self.namespaces, vec![&destination.namespace]),
        ];
        let mut named = lists.iter().filter_map(|(patterns, texts)| {
            let patterns = patterns.as_ref().filter(|patterns| !patterns.is_empty())?;
            let texts = texts.iter().filter(|text| !text.is_empty());
            let mut pairs = texts.flat_map(|text| patterns.iter().map(move |one| (one, *text)));
            Some(pairs.any(|(pattern, text)| is_match(pattern, text)))
        });
        match self.and_operator {
            true => {
                let named: Vec<bool> = named.collect();
                !named.is_empty() && named.iter().all(|is_named| *is_named)
            }
            false => named.any(|is_named| is_named),
        }
    }

    fn is_open(&self, now: u64) -> Result<bool, Trouble> {
        if !matches!(&*self.time_zone, "" | "UTC" | "Etc/UTC" | "GMT") {
            let what = format!("a sync window in the time zone {}", self.time_zone);
            return Err(Trouble::NotServed { what });
        }
        let invalid = |what: &str| Trouble::Invalid {
            message: format!("the {what} of a sync window cannot be read: `{}`", self.schedule),
        };
        let schedule = Schedule::parse(&self.schedule).ok_or_else(|| invalid("schedule"))?;
        let duration = seconds_of_duration(&self.duration).ok_or_else(|| invalid("duration"))?;
        Ok(schedule.has_begun_within(now, duration))
    }
}

/// Whether a glob is about the text; `*` is about slashes too.
fn is_match(pattern: &str, text: &str) -> bool {
    let glob = GlobBuilder::new(pattern).literal_separator(false).backslash_escape(false).build();
    glob.is_ok_and(|glob| glob.compile_matcher().is_match(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn app() -> Application {
        serde_json::from_value(json!({
            "metadata": {"name": "shop"},
            "spec": {"destination": {"server": "https://kubernetes.default.svc", "namespace": "prod"}},
        }))
        .unwrap()
    }

    fn window(more: serde_json::Value) -> Window {
        let mut window = json!({"kind": "deny", "schedule": "* * * * *", "duration": "1h"});
        window.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(window).unwrap()
    }

    #[test]
    fn one_list_is_enough_unless_all_are_asked_for() {
        let is_about = |more| window(more).is_about(&app());
        assert!(is_about(json!({"applications": ["sh*"]})));
        assert!(is_about(json!({"clusters": ["*"]})));
        assert!(is_about(json!({"applications": ["other"], "namespaces": ["prod"]})));
        assert!(!is_about(json!({"applications": ["other"]})));
        // A window that names nothing is about nothing.
        assert!(!is_about(json!({})));
        assert!(!is_about(json!({"andOperator": true})));
        let both =
            |app| json!({"applications": [app], "namespaces": ["prod"], "andOperator": true});
        assert!(is_about(both("shop")));
        assert!(!is_about(both("other")));
    }

    #[test]
    fn what_cannot_be_told_is_said() {
        let of = |more| {
            let windows = vec![window(more)];
            let spec = ProjectSpec { sync_windows: Some(windows) };
            Project { spec }.windows_of(&app(), 1_700_000_000)
        };
        let open = of(json!({"applications": ["*"]})).unwrap();
        assert_eq!((open.assigned.len(), open.active.len()), (1, 1));
        let elsewhere = of(json!({"applications": ["*"], "timeZone": "Europe/Berlin"}));
        assert!(matches!(elsewhere, Err(Trouble::NotServed { .. })));
        let wrong = of(json!({"applications": ["*"], "schedule": "@daily"}));
        assert!(matches!(wrong, Err(Trouble::Invalid { .. })));
        assert_eq!(of(json!({"namespaces": ["test"]})).unwrap(), SyncWindows::default());
    }
}
