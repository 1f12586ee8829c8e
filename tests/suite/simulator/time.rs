//! Virtual time: milliseconds since the history's own epoch, written as Argo CD writes it.

/// Milliseconds since 2026-03-02T08:00:00Z.
pub(super) type Millis = u64;

pub(super) const SECOND: Millis = 1000;
pub(super) const MINUTE: Millis = 60 * SECOND;
pub(super) const HOUR: Millis = 60 * MINUTE;

/// RFC 3339 in whole seconds, cut and not rounded, as `metav1.Time` is serialised.
pub(super) fn rfc3339(at: Millis) -> String {
    let seconds = at / SECOND + 8 * 3600;
    let (day, rest) = (2 + seconds / 86_400, seconds % 86_400);
    format!("2026-03-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// When the change is pushed.
pub(super) const PUSHED: Millis = HOUR;
