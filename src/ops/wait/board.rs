//! What is waited for as it stands, in the few lines that a terminal keeps below what has happened.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::argocd::Transition;

/// The most Applications that have a line; of the others only the number is told.
const MOST_LINES: usize = 8;

/// One Application.
#[derive(Clone, Debug)]
struct Row {
    name: String,
    state: &'static str,
    message: String,
    /// When it came to be so, by the clock of the whole command.
    since: Duration,
}

/// Where each Application stands.
#[derive(Debug, Default)]
pub(super) struct Board {
    rows: Mutex<Vec<Row>>,
}

impl Board {
    fn rows(&self) -> MutexGuard<'_, Vec<Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The Application of that name has come to this state; `at` is the time since the command began.
    pub(super) fn learn(&self, name: String, at: Duration, transition: &Transition) {
        let (state, message) = (transition.state, transition.message.clone());
        let mut rows = self.rows();
        match rows.iter_mut().find(|row| row.name == name) {
            Some(row) => {
                // Another message of the same state is no new beginning.
                let since = if row.state == state { row.since } else { at };
                (row.state, row.message, row.since) = (state, message, since);
            }
            None => rows.push(Row { name, state, message, since: at }),
        }
    }

    /// As lines, `now` after the command began: how many are ready where there are several, and each that is not, with how
    /// long it has been so.
    pub(super) fn lines(&self, now: Duration) -> Vec<String> {
        let rows = self.rows();
        let open: Vec<&Row> = rows.iter().filter(|row| row.state != "ready").collect();
        let mut lines = Vec::new();
        if rows.len() > 1 {
            let ready = rows.len() - open.len();
            lines.push(format!("{:>4}s {ready} of {} ready", now.as_secs(), rows.len()));
        }
        lines.extend(open.iter().take(MOST_LINES).map(|row| row.line(now)));
        if open.len() > MOST_LINES {
            lines.push(format!("      and {} more", open.len() - MOST_LINES));
        }
        lines
    }
}

impl Row {
    fn line(&self, now: Duration) -> String {
        let lasted = now.saturating_sub(self.since).as_secs();
        let message = match self.message.as_str() {
            "" => String::new(),
            message => format!(": {message}"),
        };
        format!(
            "{:>4}s {} has been {} for {lasted}s{message}",
            now.as_secs(),
            self.name,
            self.state
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learn(board: &Board, name: &str, at: u64, state: &'static str, message: &str) {
        let after = Duration::from_secs(at);
        let transition = Transition { after, state, message: message.to_owned() };
        board.learn(name.to_owned(), after, &transition);
    }

    fn lines(board: &Board, now: u64) -> Vec<String> {
        board.lines(Duration::from_secs(now))
    }

    #[test]
    fn one_application_has_one_line_until_it_is_ready() {
        let board = Board::default();
        assert_eq!(lines(&board, 0), [""; 0]);
        learn(&board, "shop", 2, "rolling", "its health is Progressing");
        learn(&board, "shop", 5, "rolling", "one pod is missing");
        assert_eq!(lines(&board, 9), ["   9s shop has been rolling for 7s: one pod is missing"]);
        learn(&board, "shop", 11, "dwelling", "");
        assert_eq!(lines(&board, 12), ["  12s shop has been dwelling for 1s"]);
        learn(&board, "shop", 13, "ready", "");
        assert_eq!(lines(&board, 14), [""; 0]);
    }

    #[test]
    fn of_many_some_are_shown_and_all_are_counted() {
        let board = Board::default();
        for at in 0..12 {
            learn(&board, &format!("app-{at}"), 0, "syncing", "");
        }
        for at in 0..2 {
            learn(&board, &format!("app-{at}"), 1, "ready", "");
        }
        let lines = lines(&board, 3);
        assert_eq!(lines.len(), 10);
        assert_eq!(lines[0], "   3s 2 of 12 ready");
        assert_eq!(lines[1], "   3s app-2 has been syncing for 3s");
        assert_eq!(lines[9], "      and 2 more");
    }
}
