//! Regular expressions that stay compiled for the run: many overlays use the same few, and compiling one
//! takes longer than matching it. Must not know what the patterns are for.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use regex::Regex;

/// The most patterns that are kept; one more, and all are let go.
const MOST: usize = 256;

/// Compiled patterns of one kind, by their texts.
#[derive(Debug)]
pub struct KeptPatterns(Mutex<Option<HashMap<String, Regex>>>);

impl KeptPatterns {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// What `compile` makes of `text`, or made of it before.
    ///
    /// # Errors
    /// Those of `compile`; they are not kept.
    pub fn find_or<E>(
        &self,
        text: &str,
        compile: impl FnOnce(&str) -> Result<Regex, E>,
    ) -> Result<Regex, E> {
        if let Some(known) = self.with(|kept| kept.get(text).cloned()) {
            return Ok(known);
        }
        let regex = compile(text)?;
        self.with(|kept| {
            if kept.len() >= MOST {
                kept.clear();
            }
            kept.insert(text.to_owned(), regex.clone());
        });
        Ok(regex)
    }

    fn with<T>(&self, use_it: impl FnOnce(&mut HashMap<String, Regex>) -> T) -> T {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        use_it(kept.get_or_insert_default())
    }
}

impl Default for KeptPatterns {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_compiled_once_and_a_wrong_one_each_time() {
        let kept = KeptPatterns::new();
        let mut compiled = 0;
        for _ in 0..3 {
            let regex = kept.find_or("^a+$", |text| {
                compiled += 1;
                Regex::new(text)
            });
            assert!(regex.unwrap().is_match("aa"));
        }
        assert_eq!(compiled, 1);
        for _ in 0..2 {
            assert!(kept.find_or("(", Regex::new).is_err());
        }
        for n in 0..2 * MOST {
            kept.find_or(&n.to_string(), Regex::new).unwrap();
        }
        assert!(kept.with(|kept| kept.len()) <= MOST);
    }
}
