//! One run at a time: between the look at what a file holds and the rename that replaces it, no other run of this program
//! may do the same, or both would believe that they succeeded and one edit would be lost.
//!
//! The lock is advisory and on the directory itself, so it needs no file, leaves none, and ends with the process.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::clock::{self, Deadline};

/// How long others are waited for; a write takes milliseconds.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Held while files in some directories are looked at and replaced.
pub(super) struct Turn {
    _locks: Vec<File>,
}

impl Turn {
    /// Waits until no other run writes in any of the directories. They are taken in one order by all, so that no two runs
    /// wait for each other; where the file system knows no locks, nobody is waited for.
    pub(super) fn take(directories: BTreeSet<PathBuf>) -> io::Result<Self> {
        let deadline = Deadline::after(LONGEST_WAIT);
        let mut locks = Vec::new();
        for directory in directories {
            let Ok(lock) = File::open(&directory) else { continue };
            while let Err(TryLockError::WouldBlock) = lock.try_lock() {
                if deadline.is_over() {
                    let seconds = LONGEST_WAIT.as_secs();
                    let text = format!("another run holds its directory for more than {seconds} s");
                    return Err(io::Error::new(io::ErrorKind::TimedOut, text));
                }
                clock::sleep(Duration::from_millis(5));
            }
            locks.push(lock);
        }
        Ok(Self { _locks: locks })
    }
}
