//! A long answer, read line by line while the server goes on writing.

use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

use super::error::translated;
use super::{Address, HttpError};

/// The longest line that is read.
const LONGEST_LINE: u64 = 64 * 1024 * 1024;

/// An answer whose body is still to come.
pub struct Stream {
    /// The status code; only one of success has lines worth reading.
    pub status: u16,
    /// Who answered.
    pub address: Address,
    pub(super) headers: Vec<(String, String)>,
    pub(super) reader: BufReader<ureq::BodyReader<'static>>,
    pub(super) allowed: Duration,
}

impl Stream {
    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The next line without its end; `None` where the server has ended the answer. An empty line is a line.
    ///
    /// # Errors
    /// [`HttpError::TimedOut`] where the stream was silent for too long or its deadline has passed, `TooLarge` for a line over
    /// 64 MiB, `Broken` where the connection broke within the body.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, HttpError> {
        let mut line = Vec::new();
        let mut limited = (&mut self.reader).take(LONGEST_LINE);
        limited
            .read_until(b'\n', &mut line)
            .map_err(|error| translated(error.into(), &self.address.to_string(), self.allowed))?;
        if line.last() == Some(&b'\n') {
            line.pop();
            line.pop_if(|b| *b == b'\r');
            return Ok(Some(line));
        }
        if line.len() as u64 >= LONGEST_LINE {
            return Err(HttpError::TooLarge {
                address: self.address.to_string(),
                limit: LONGEST_LINE,
            });
        }
        Ok((!line.is_empty()).then_some(line))
    }
}
