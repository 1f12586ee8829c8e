//! When a cron schedule of five fields last began (robfig/cron `parser.go`, `spec.go`), in UTC.

/// The longest that is looked back, in minutes: four years, so that a 29 February is among them.
const MOST_MINUTES: u64 = 4 * 366 * 24 * 60;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// The values of a field as bits, and whether it is a star.
#[derive(Clone, Copy, Debug)]
struct Field {
    bits: u64,
    is_star: bool,
}

/// A schedule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    minute: Field,
    hour: Field,
    day_of_month: Field,
    month: Field,
    day_of_week: Field,
}

impl Schedule {
    /// Reads five fields; `None` where they are none, names such as `@daily` and zones included.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, day_of_month, month, day_of_week] = fields.as_slice() else {
            return None;
        };
        Some(Self {
            minute: Field::parse(minute, 0, 59, &[])?,
            hour: Field::parse(hour, 0, 23, &[])?,
            day_of_month: Field::parse(day_of_month, 1, 31, &[])?,
            month: Field::parse(month, 1, 12, &MONTHS)?,
            day_of_week: Field::parse(day_of_week, 0, 6, &DAYS)?,
        })
    }

    /// Whether it began after `now - duration`, and not after `now`; all in seconds since 1970.
    pub(super) fn has_begun_within(&self, now: u64, duration: u64) -> bool {
        let after = now.saturating_sub(duration);
        let minutes = (0..MOST_MINUTES).map_while(|back| (now / 60).checked_sub(back));
        minutes.take_while(|minute| minute * 60 > after).any(|minute| self.is_at(minute))
    }

    /// Whether it begins at that minute since 1970.
    fn is_at(&self, minute: u64) -> bool {
        if !self.minute.has(minute % 60) || !self.hour.has(minute / 60 % 24) {
            return false;
        }
        let days = minute / (24 * 60);
        let (month, day) = month_and_day(days);
        let is_day = self.day_of_month.has(day);
        // 1970 began on a Thursday.
        let is_weekday = self.day_of_week.has((days + 4) % 7);
        let is_date = match self.day_of_month.is_star || self.day_of_week.is_star {
            true => is_day && is_weekday,
            false => is_day || is_weekday,
        };
        self.month.has(month) && is_date
    }
}

/// Month and day of the month, so many days after 1970 began.
fn month_and_day(days: u64) -> (u64, u64) {
    let date = crate::clock::format_rfc_3339(days * 86_400);
    let number = |from: usize| date.get(from..from + 2).and_then(|text| text.parse().ok());
    (number(5).unwrap_or(0), number(8).unwrap_or(0))
}

impl Field {
    fn has(self, value: u64) -> bool {
        value < 64 && self.bits & (1 << value) != 0
    }

    fn parse(text: &str, least: u64, most: u64, names: &[&str]) -> Option<Self> {
        let mut field = Self { bits: 0, is_star: false };
        for part in text.split(',') {
            let one = Self::parse_range(part, least, most, names)?;
            field.bits |= one.bits;
            field.is_star |= one.is_star;
        }
        Some(field)
    }

    /// `*`, `N`, `N-M`, each with or without `/STEP`; `N/STEP` goes on to the end.
    fn parse_range(text: &str, least: u64, most: u64, names: &[&str]) -> Option<Self> {
        let (range, step) = match text.split_once('/') {
            Some((range, step)) => (range, Some(step.parse::<u64>().ok()?)),
            None => (text, None),
        };
        let is_any = matches!(range, "*" | "?");
        let value = |text: &str| value(text, least, names);
        let (from, to) = match range.split_once('-') {
            _ if is_any => (least, most),
            Some((from, to)) => (value(from)?, value(to)?),
            None if step.is_some() => (value(range)?, most),
            None => (value(range)?, value(range)?),
        };
        let step = step.unwrap_or(1);
        if from < least || to > most || from > to || step == 0 {
            return None;
        }
        let mut values = (from..=to).filter(|value| (value - from) % step == 0);
        let bits = values.try_fold(0u64, |bits, value| Some(bits | (1 << value)))?;
        Some(Self { bits, is_star: is_any && step == 1 })
    }
}

fn value(text: &str, least: u64, names: &[&str]) -> Option<u64> {
    let named = names.iter().position(|name| name.eq_ignore_ascii_case(text));
    match named {
        Some(at) => u64::try_from(at).ok().map(|at| at + least),
        None => text.parse().ok(),
    }
}

/// A duration as Go writes it, such as `1h30m`, in whole seconds; `None` for what is none, or is negative.
pub(super) fn seconds_of_duration(text: &str) -> Option<u64> {
    let (mut rest, mut seconds) = (text, 0.0);
    if text == "0" {
        return Some(0);
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        let units = [("ms", 0.001), ("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9)];
        let units = units.into_iter().chain([("h", 3_600.0), ("m", 60.0), ("s", 1.0)]);
        let unit = units.into_iter().find(|(unit, _)| rest[end..].starts_with(unit))?;
        seconds += number * unit.1;
        rest = &rest[end + unit.0.len()..];
    }
    let is_one = !text.is_empty() && seconds < 1e12;
    // Cut to whole seconds: windows begin at whole minutes.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded above")]
    is_one.then_some(seconds as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Monday, 2024-01-15 10:30:00 UTC (`date -u -d 2024-01-15T10:30:00Z +%s`).
    const MONDAY: u64 = 1_705_314_600;

    fn is_open(schedule: &str, minutes: u64, now: u64) -> bool {
        Schedule::parse(schedule).unwrap().has_begun_within(now, minutes * 60)
    }

    #[test]
    fn a_window_is_open_from_its_minute_on_for_its_duration() {
        assert!(is_open("30 10 * * *", 1, MONDAY));
        assert!(is_open("30 10 * * *", 1, MONDAY + 59));
        assert!(!is_open("30 10 * * *", 1, MONDAY + 60));
        assert!(!is_open("31 10 * * *", 60, MONDAY));
        assert!(is_open("0 22 * * *", 13 * 60, MONDAY));
        assert!(!is_open("0 22 * * *", 12 * 60, MONDAY));
        assert!(is_open("0 0 1 1 *", 15 * 24 * 60, MONDAY));
        assert!(!is_open("0 0 1 1 *", 14 * 24 * 60, MONDAY));
        assert!(is_open("0 0 29 2 *", 4 * 366 * 24 * 60, MONDAY));
    }

    #[test]
    fn days_of_week_and_of_month_are_either_unless_one_is_a_star() {
        assert!(is_open("30 10 * * 1", 1, MONDAY));
        assert!(is_open("30 10 * * MON-FRI", 1, MONDAY));
        assert!(!is_open("30 10 * * 0,6", 1, MONDAY));
        assert!(is_open("30 10 15 JAN *", 1, MONDAY));
        assert!(is_open("30 10 1 * 1", 1, MONDAY));
        assert!(is_open("30 10 15 * 0", 1, MONDAY));
        assert!(!is_open("30 10 1 * 0", 1, MONDAY));
        // A star with a step is none, so that the fields are either again.
        assert!(is_open("30 10 */14 * 0", 1, MONDAY));
    }

    #[test]
    fn steps_count_from_the_beginning_of_their_range() {
        assert!(is_open("*/15 * * * *", 1, MONDAY));
        assert!(!is_open("*/20 * * * *", 1, MONDAY));
        assert!(is_open("10/20 8-12/2 * * *", 1, MONDAY));
        assert!(!is_open("10/20 9-12/2 * * *", 1, MONDAY));
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        for text in ["", "* * * *", "@daily", "60 * * * *", "* * 0 * *", "* * * * 7", "5-1 * * * *"]
        {
            assert!(Schedule::parse(text).is_none(), "{text}");
        }
        for text in ["*/0 * * * *", "x * * * *", "TZ=UTC * * * * *"] {
            assert!(Schedule::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn durations_are_those_of_go() {
        assert_eq!(seconds_of_duration("1h30m"), Some(5_400));
        assert_eq!(seconds_of_duration("1.5h"), Some(5_400));
        assert_eq!(seconds_of_duration("90s"), Some(90));
        assert_eq!(seconds_of_duration("1500ms"), Some(1));
        for text in ["", "1", "h", "1d", "-1h"] {
            assert_eq!(seconds_of_duration(text), None, "{text}");
        }
    }
}
