//! Dates as yaml.v3 recognises them: four layouts, read like Go's `time.Parse`.

/// The text that kustomize prints for a date in a resource: RFC 3339 with up to nine fractional digits.
///
/// `None` if yaml.v3 reads `text` as something else.
#[must_use]
pub fn timestamp(text: &str) -> Option<String> {
    Moment::parse(text).map(|m| m.to_rfc3339())
}

pub(super) fn is_timestamp(text: &str) -> bool {
    Moment::parse(text).is_some()
}

#[derive(Default)]
struct Moment {
    year: u32,
    month: u32,
    day: u32,
    clock: (u32, u32, u32),
    nanos: u32,
    /// Minutes east of UTC.
    offset: i32,
}

impl Moment {
    fn parse(text: &str) -> Option<Moment> {
        let bytes = text.as_bytes();
        if bytes.len() < 8 || !bytes[..4].iter().all(u8::is_ascii_digit) || bytes[4] != b'-' {
            return None;
        }
        let mut rest = &text[5..];
        let mut moment = Moment { year: text[..4].parse().ok()?, ..Moment::default() };
        moment.month = number(&mut rest)?;
        eat(&mut rest, '-')?;
        moment.day = number(&mut rest)?;
        if !(1..=12).contains(&moment.month)
            || !(1..=days_in(moment.month, moment.year)).contains(&moment.day)
        {
            return None;
        }
        match rest.chars().next() {
            None => Some(moment),
            Some('T' | 't') => moment.with_clock(&rest[1..], true),
            Some(' ') => moment.with_clock(rest.trim_start_matches(' '), false),
            Some(_) => None,
        }
    }

    fn with_clock(mut self, mut rest: &str, zone: bool) -> Option<Moment> {
        let hour = number(&mut rest)?;
        eat(&mut rest, ':')?;
        let minute = number(&mut rest)?;
        eat(&mut rest, ':')?;
        let second = number(&mut rest)?;
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        self.clock = (hour, minute, second);
        self.nanos = fraction(&mut rest);
        if zone {
            self.offset = offset(&mut rest)?;
        }
        rest.is_empty().then_some(self)
    }

    fn to_rfc3339(&self) -> String {
        let (hour, minute, second) = self.clock;
        let mut out = format!(
            "{:04}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}",
            self.year, self.month, self.day
        );
        if self.nanos > 0 {
            out.push_str(format!(".{:09}", self.nanos).trim_end_matches('0'));
        }
        if self.offset == 0 {
            out.push('Z');
        } else {
            let sign = if self.offset < 0 { '-' } else { '+' };
            let minutes = self.offset.unsigned_abs();
            out.push_str(&format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60));
        }
        out
    }
}

/// One or two digits.
fn number(rest: &mut &str) -> Option<u32> {
    let digits = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let value = rest[..digits].parse().ok()?;
    *rest = &rest[digits..];
    Some(value)
}

fn eat(rest: &mut &str, c: char) -> Option<()> {
    *rest = rest.strip_prefix(c)?;
    Some(())
}

/// Nanoseconds; digits beyond the ninth do not count, no digits mean no fraction.
fn fraction(rest: &mut &str) -> u32 {
    let Some(tail) = rest.strip_prefix(['.', ',']) else { return 0 };
    let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return 0;
    }
    *rest = &tail[digits..];
    format!("{:0<9}", &tail[..digits.min(9)]).parse().unwrap_or(0)
}

/// `Z` or `+hh:mm`, in minutes.
fn offset(rest: &mut &str) -> Option<i32> {
    if let Some(tail) = rest.strip_prefix('Z') {
        *rest = tail;
        return Some(0);
    }
    let bytes = rest.as_bytes();
    let digit = |i: usize| bytes.get(i).filter(|b| b.is_ascii_digit()).map(|b| i32::from(b - b'0'));
    let sign = match bytes.first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours = digit(1)? * 10 + digit(2)?;
    let minutes = digit(4)? * 10 + digit(5)?;
    if bytes[3] != b':' || hours > 24 || minutes > 60 {
        return None;
    }
    *rest = &rest[6..];
    Some(sign * (hours * 60 + minutes))
}

fn days_in(month: u32, year: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
