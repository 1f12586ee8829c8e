//! A command line as words, without a shell.

/// Splits at spaces; `'…'` and `"…"` keep what they hold as it is.
///
/// # Errors
/// A sentence where a quote does not end, or where only a shell would understand a character.
pub fn split_words(line: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None::<char>);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '|' | '&' | ';' | '<' | '>' | '$' | '`' | '\\' | '(' | ')' | '*') => {
                return Err(format!(
                    "no shell reads `{c}`: put it in quotes, or write `-- sh -c '…'` at the end"
                ));
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(quote) = quote {
        return Err(format!("the quote {quote} does not end"));
    }
    words.extend(word);
    if words.is_empty() { Err("it holds no command".to_owned()) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_and_quotes_kept_together() {
        let words = split_words(" overlay  wait web --commit 'a b' --x=\"c;d\" '' ").unwrap();
        assert_eq!(words, ["overlay", "wait", "web", "--commit", "a b", "--x=c;d", ""]);
        for wrong in ["", "  ", "a 'b", "a | b", "a; b", "$HOME", "`x`", "a && b", "ls *"] {
            assert!(split_words(wrong).is_err(), "{wrong}");
        }
    }
}
