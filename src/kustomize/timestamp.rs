//! Times as go-yaml reads them and as Go's JSON writes them.
//!
//! Source: go.yaml.in/yaml v3.0.3 `resolve.go` (`parseTimestamp`) and Go's `time` package, whose
//! `Parse` takes one or two digits for every number but the year.

/// A moment as it was written: civil time and offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    nanosecond: u32,
    /// Minutes east of UTC.
    offset: i32,
}

/// Reads one of go-yaml's four forms: a date, a date and time with `T` or `t` and a zone, or with
/// a blank and no zone.
#[must_use]
pub fn parse(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let dated = bytes.len() > 4 && bytes[4] == b'-' && bytes[..4].iter().all(u8::is_ascii_digit);
    if !dated {
        return None;
    }
    let mut cursor = Cursor { rest: &bytes[5..] };
    let mut time = Timestamp {
        year: text[..4].parse().ok()?,
        month: cursor.number()?,
        day: cursor.after(b'-')?.number()?,
        hour: 0,
        minute: 0,
        second: 0,
        nanosecond: 0,
        offset: 0,
    };
    match cursor.rest.first() {
        None => {}
        Some(b'T' | b't') => {
            cursor.clock(&mut time)?;
            time.offset = cursor.zone()?;
        }
        Some(b' ') => cursor.clock(&mut time)?,
        Some(_) => return None,
    }
    (cursor.rest.is_empty() && time.is_valid()).then_some(time)
}

impl Timestamp {
    /// RFC 3339 with as many digits of the second as it needs, as Go's JSON writes a time. `None`
    /// for an offset of 24 hours, which it refuses.
    #[must_use]
    pub fn to_rfc3339(self) -> Option<String> {
        let mut text = format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            self.year, self.month, self.day, self.hour, self.minute, self.second
        );
        if self.nanosecond != 0 {
            let digits = format!("{:09}", self.nanosecond);
            text.push('.');
            text.push_str(digits.trim_end_matches('0'));
        }
        match self.offset {
            0 => text.push('Z'),
            offset => {
                let minutes = offset.unsigned_abs();
                if minutes >= 24 * 60 {
                    return None;
                }
                let sign = if offset < 0 { '-' } else { '+' };
                text.push_str(&format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60));
            }
        }
        Some(text)
    }

    fn is_valid(&self) -> bool {
        (1..=12).contains(&self.month)
            && (1..=days_in(self.year, self.month)).contains(&self.day)
            && self.hour < 24
            && self.minute < 60
            && self.second < 60
    }
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

struct Cursor<'a> {
    rest: &'a [u8],
}

impl Cursor<'_> {
    /// One or two digits.
    fn number(&mut self) -> Option<u32> {
        let digits = self.rest.iter().take(2).take_while(|b| b.is_ascii_digit()).count();
        let value = self.rest[..digits].iter().fold(0, |n, b| n * 10 + u32::from(b - b'0'));
        self.rest = &self.rest[digits..];
        (digits > 0).then_some(value)
    }

    fn after(&mut self, byte: u8) -> Option<&mut Self> {
        self.rest = self.rest.strip_prefix(&[byte])?;
        Some(self)
    }

    fn clock(&mut self, time: &mut Timestamp) -> Option<()> {
        self.rest = &self.rest[1..];
        time.hour = self.number()?;
        time.minute = self.after(b':')?.number()?;
        time.second = self.after(b':')?.number()?;
        time.nanosecond = self.fraction();
        Some(())
    }

    /// `.` or `,` and digits, of which nine count.
    fn fraction(&mut self) -> u32 {
        if !matches!(self.rest, [b'.' | b',', b'0'..=b'9', ..]) {
            return 0;
        }
        let digits = self.rest[1..].iter().take_while(|b| b.is_ascii_digit()).count();
        let value = (0..9).fold(0, |n, at| {
            let digit = if at < digits { self.rest[1 + at] - b'0' } else { 0 };
            n * 10 + u32::from(digit)
        });
        self.rest = &self.rest[1 + digits..];
        value
    }

    /// `Z` or `±hh:mm`, in minutes.
    fn zone(&mut self) -> Option<i32> {
        if self.after(b'Z').is_some() {
            return Some(0);
        }
        let [sign @ (b'+' | b'-'), a, b, b':', c, d] = *self.rest else {
            return None;
        };
        if ![a, b, c, d].iter().all(u8::is_ascii_digit) {
            return None;
        }
        let two = |high: u8, low: u8| i32::from(high - b'0') * 10 + i32::from(low - b'0');
        let (hours, minutes) = (two(a, b), two(c, d));
        if hours > 24 || minutes > 60 {
            return None;
        }
        self.rest = &[];
        let offset = hours * 60 + minutes;
        Some(if sign == b'-' { -offset } else { offset })
    }
}
