//! What bash asks and is answered: it hands over the line as it is typed, quotes and all, and puts an answer into it as it
//! is. So the program reads the quotes, and quotes what it answers: a name that bash would read as more than a name is a
//! command in the line otherwise.
//!
//! Source: bash's manual, "Quoting" and "Programmable Completion". The second argument of a completion function is what the
//! answer replaces: the word from its last opening quote, `=` or `:` on.

/// The quote that is open at some place of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

/// A line as far as it is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its words without their quotes; the last is the one that is being typed, and may be empty.
    pub(super) words: Vec<String>,
    /// What of the last word stays in the line before the answer, without its quotes.
    kept: String,
    /// The quote that is open where the answer begins.
    quote: Quote,
}

impl Line {
    /// Reads `line`, of which an answer replaces `replaced` at its end.
    pub(super) fn read(line: &str, replaced: &str) -> Self {
        let (words, _) = words(line);
        let (before, quote) = words_before(line, replaced);
        Self { words, kept: before, quote }
    }

    /// What the line has to have for `candidate`; `None` where what stays in the line is no beginning of it, or where it has
    /// signs that no line can show.
    pub(super) fn answer(&self, candidate: &str) -> Option<String> {
        let rest = candidate.strip_prefix(&self.kept)?;
        (!candidate.contains(char::is_control)).then(|| quoted(rest, self.quote))
    }
}

/// What stays of the last word when `replaced` is taken off the end of the line, and the quote that is open there.
fn words_before(line: &str, replaced: &str) -> (String, Quote) {
    let (mut before, quote) = words(line.strip_suffix(replaced).unwrap_or(line));
    (before.pop().unwrap_or_default(), quote)
}

/// The words of a line without their quotes, and the quote that is open at its end.
fn words(line: &str) -> (Vec<String>, Quote) {
    let (mut words, mut word, mut has_begun) = (Vec::new(), String::new(), false);
    let mut quote = Quote::None;
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            (Quote::None, ' ' | '\t' | '\n') => {
                if has_begun {
                    words.push(std::mem::take(&mut word));
                }
                has_begun = false;
                continue;
            }
            (Quote::None, '\'') => quote = Quote::Single,
            (Quote::None, '"') => quote = Quote::Double,
            (Quote::Single, '\'') | (Quote::Double, '"') => quote = Quote::None,
            (Quote::None, '\\') => word.extend(signs.next()),
            (Quote::Double, '\\') => match signs.next() {
                Some(next) if "$`\"\\".contains(next) => word.push(next),
                next => word.extend(std::iter::once('\\').chain(next)),
            },
            (_, sign) => word.push(sign),
        }
        has_begun = true;
    }
    words.push(word);
    (words, quote)
}

/// `text` as it has to stand in a line where `quote` is open. The `=` at the end of `NAME=` is left as it is.
fn quoted(text: &str, quote: Quote) -> String {
    let mut line = String::with_capacity(text.len());
    for (at, sign) in text.char_indices() {
        let is_last = at + sign.len_utf8() == text.len();
        match quote {
            Quote::Single if sign == '\'' => line.push_str("'\\''"),
            Quote::Double if "$`\"\\".contains(sign) => line.extend(['\\', sign]),
            // No backslash keeps it from being an event of the history there, and staying out of the name.
            Quote::Double if sign == '!' => line.push_str("\"\\!\""),
            Quote::None if !(is_plain(sign) || sign == '=' && is_last) => {
                line.extend(['\\', sign]);
            }
            _ => line.push(sign),
        }
    }
    line
}

/// Whether a sign means nothing to bash, wherever in a word it stands.
fn is_plain(sign: char) -> bool {
    sign.is_alphanumeric() || "-_./,+%".contains(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_bash_reads_it() {
        for (line, wanted) in [
            ("overlay pin ", vec!["overlay", "pin", ""]),
            ("overlay  pin ov", vec!["overlay", "pin", "ov"]),
            (r"overlay pin ov/\$\(x\ y", vec!["overlay", "pin", "ov/$(x y"]),
            (r#"overlay pin "ov/\$(x \y" 'a b"#, vec!["overlay", "pin", "ov/$(x \\y", "a b"]),
            (r"overlay pin 'it'\''s", vec!["overlay", "pin", "it's"]),
            (r"overlay pin ov/a\", vec!["overlay", "pin", "ov/a"]),
            ("overlay --fail-on=e", vec!["overlay", "--fail-on=e"]),
            ("overlay '' ", vec!["overlay", "", ""]),
        ] {
            assert_eq!(words(line).0, wanted, "{line}");
        }
    }

    /// The second text is what bash says it replaces, seen of bash 5.2.
    #[test]
    fn an_answer_is_quoted_as_the_line_needs_it() {
        for (line, replaced, candidate, answer) in [
            ("o ov", "ov", "ov/prod", Some("ov/prod")),
            ("o ov", "ov", "ov/$(touch x)", Some(r"ov/\$\(touch\ x\)")),
            ("o ov", "ov", "ov/it's;`id`", Some(r"ov/it\'s\;\`id\`")),
            ("o ", "", "~root", Some(r"\~root")),
            ("o ov", "ov", "ov/a=b:c", Some(r"ov/a\=b\:c")),
            ("o we", "we", "web=", Some("web=")),
            (r"o ov/\$\(t", r"ov/\$\(t", "ov/$(touch x)", Some(r"ov/\$\(touch\ x\)")),
            ("o \"ov/", "ov/", "ov/$(x)!", Some("ov/\\$(x)\"\\!\"")),
            ("o 'ov/", "ov/", "ov/$(x) it's", Some(r"ov/$(x) it'\''s")),
            ("o ov/\"a b", "a b", "ov/a b$", Some(r"a b\$")),
            ("o --fail-on=e", "e", "--fail-on=error", Some("error")),
            ("o --fail-on=e", "e", "other", None),
            ("o ov", "ov", "ov/\u{1b}[31m", None),
            ("o ov", "ov", "ov/größe", Some("ov/größe")),
        ] {
            let found = Line::read(line, replaced).answer(candidate);
            assert_eq!(found.as_deref(), answer, "{line} {candidate}");
        }
    }
}
