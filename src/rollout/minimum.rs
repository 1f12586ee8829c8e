//! The fewest ready pods that a roll leaves by its own rules.
//!
//! Sources: Kubernetes `pkg/controller/deployment/util/deployment_util.go` (`ResolveFenceposts`, `MaxUnavailable`),
//! `pkg/controller/statefulset`, `pkg/controller/daemon/util` (shares of DaemonSets are rounded up).

use serde_json::Value;

use super::live::{int_at, kind, text_at};
use crate::checks::model::amount::{Amount, Rounding};

/// The fewest ready pods of `workload` during a roll that begins with all of them ready.
#[must_use]
pub fn least_ready(workload: &Value) -> i64 {
    match kind(workload) {
        "Deployment" => deployment(workload),
        "StatefulSet" => {
            let replicas = replicas(workload);
            let path = "/spec/updateStrategy/rollingUpdate/maxUnavailable";
            let away = amount(workload, path).unwrap_or(Amount::Count(1));
            replicas - away.of(replicas, Rounding::Up).unwrap_or(replicas).clamp(1, replicas.max(1))
        }
        "DaemonSet" => {
            let wanted = int_at(workload, "/status/desiredNumberScheduled").unwrap_or(0);
            let path = "/spec/updateStrategy/rollingUpdate/maxUnavailable";
            let away = amount(workload, path).unwrap_or(Amount::Count(1));
            wanted - away.of(wanted, Rounding::Up).unwrap_or(wanted)
        }
        _ => 0,
    }
    .max(0)
}

/// The pods that a workload is to have; 1 where it does not say.
#[must_use]
pub fn replicas(workload: &Value) -> i64 {
    match kind(workload) {
        "DaemonSet" => int_at(workload, "/status/desiredNumberScheduled").unwrap_or(0),
        _ => int_at(workload, "/spec/replicas").unwrap_or(1),
    }
}

fn deployment(workload: &Value) -> i64 {
    if text_at(workload, "/spec/strategy/type") == "Recreate" {
        return 0;
    }
    let replicas = replicas(workload);
    let of = |field: &str, rounding| {
        let stated = amount(workload, &format!("/spec/strategy/rollingUpdate/{field}"));
        stated.unwrap_or(Amount::Percent(25)).of(replicas, rounding)
    };
    let (surge, unavailable) = (of("maxSurge", Rounding::Up), of("maxUnavailable", Rounding::Down));
    let (Some(surge), Some(unavailable)) = (surge, unavailable) else { return 0 };
    let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable };
    replicas - unavailable.min(replicas)
}

/// An integer, or a text that ends with `%`.
fn amount(object: &Value, pointer: &str) -> Option<Amount> {
    match object.pointer(pointer)? {
        Value::Number(number) => Some(Amount::Count(number.as_i64()?)),
        Value::String(text) => {
            let percent = text.strip_suffix('%').and_then(|digits| digits.parse::<u32>().ok());
            Some(match percent {
                Some(percent) => Amount::Percent(i64::from(percent)),
                None => Amount::Invalid(text.clone()),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn least(strategy: &Value, replicas: i64) -> i64 {
        least_ready(&json!({"kind": "Deployment",
            "spec": {"replicas": replicas, "strategy": strategy}}))
    }

    /// The table of `ResolveFenceposts`: what is left of N = 1, 2, 3, 4, 5, 8, 10.
    #[test]
    fn a_deployment_leaves_what_its_strategy_says() {
        let of = |surge: Value, unavailable: Value| {
            json!({"type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}})
        };
        for (strategy, row) in [
            (json!({}), [1, 2, 3, 3, 4, 6, 8]),
            (of(json!("25%"), json!("25%")), [1, 2, 3, 3, 4, 6, 8]),
            (of(json!(0), json!("25%")), [0, 1, 2, 3, 4, 6, 8]),
            (of(json!("0%"), json!("25%")), [0, 1, 2, 3, 4, 6, 8]),
            (of(json!(1), json!(1)), [0, 1, 2, 3, 4, 7, 9]),
            (of(json!("50%"), json!("50%")), [1, 1, 2, 2, 3, 4, 5]),
            (of(json!(1), json!("100%")), [0, 0, 0, 0, 0, 0, 0]),
            (json!({"type": "Recreate"}), [0, 0, 0, 0, 0, 0, 0]),
        ] {
            for (replicas, want) in [1, 2, 3, 4, 5, 8, 10].into_iter().zip(row) {
                assert_eq!(least(&strategy, replicas), want, "{strategy} of {replicas}");
            }
        }
        assert_eq!(least(&json!({}), 0), 0);
    }

    #[test]
    fn sets_leave_all_but_one() {
        let set = |replicas: i64| json!({"kind": "StatefulSet", "spec": {"replicas": replicas}});
        assert_eq!([1, 3].map(|n| least_ready(&set(n))), [0, 2]);
        let daemons = |away: Value| {
            json!({"kind": "DaemonSet", "status": {"desiredNumberScheduled": 5},
                "spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": away}}}})
        };
        assert_eq!(least_ready(&daemons(json!(1))), 4);
        assert_eq!(least_ready(&daemons(json!("30%"))), 3, "shares are rounded up");
    }
}
