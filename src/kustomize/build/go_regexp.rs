//! Regular expressions as Go's `regexp` reads them.
//!
//! Selectors of patches and replacements and the names of images are Go patterns. The two languages
//! share RE2's core; this module rewrites what differs (classes that are ASCII only in Go, literal
//! braces, escapes) and refuses what Go refuses. Source: Go `regexp/syntax`.

use regex::Regex;

use crate::patterns::KeptPatterns;

/// The largest compiled pattern, in bytes.
const SIZE_LIMIT: usize = 4 << 20;

static KEPT: KeptPatterns = KeptPatterns::new();

/// Why a text is no pattern for Go.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is no regular expression: {reason}")]
pub(crate) struct PatternError {
    /// The text.
    pub(crate) pattern: String,
    /// What is wrong, in words.
    pub(crate) reason: String,
}

/// Compiles a Go pattern.
///
/// # Errors
/// [`PatternError`] for what Go does not compile either, and for patterns that grow too large.
pub(crate) fn compile(pattern: &str) -> Result<Regex, PatternError> {
    KEPT.find_or(pattern, compile_anew)
}

fn compile_anew(pattern: &str) -> Result<Regex, PatternError> {
    let error = |reason: String| PatternError { pattern: pattern.to_owned(), reason };
    let translated = Translator::new(pattern).translate().map_err(error)?;
    regex::RegexBuilder::new(&translated)
        .size_limit(SIZE_LIMIT)
        .build()
        .map_err(|cause| error(cause.to_string().lines().last().unwrap_or_default().to_owned()))
}

/// Compiles a pattern that must fit a whole text (`SelectorRegex`); the empty pattern fits all.
///
/// # Errors
/// As [`compile`].
pub(crate) fn compile_anchored(pattern: &str) -> Result<Regex, PatternError> {
    if pattern.is_empty() {
        return compile("");
    }
    // Kustomize joins the texts, so that an unbalanced pattern is refused or read as one.
    compile(&format!("^(?:{pattern})$"))
        .map_err(|error| PatternError { pattern: pattern.to_owned(), reason: error.reason })
}

struct Translator {
    chars: Vec<char>,
    at: usize,
    out: String,
    /// Whether the last thing written is a repetition, which Go does not let be repeated.
    repeated: bool,
}

impl Translator {
    fn new(pattern: &str) -> Self {
        Self { chars: pattern.chars().collect(), at: 0, out: String::new(), repeated: false }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn translate(mut self) -> Result<String, String> {
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '*' | '+' | '?' => self.repetition(&c.to_string())?,
                '{' => self.brace()?,
                '(' if self.peek(0) == Some('?') => self.group()?,
                '}' | ']' => self.literal(c),
                _ => {
                    self.out.push(c);
                    self.repeated = false;
                }
            }
        }
        Ok(self.out)
    }

    fn literal(&mut self, c: char) {
        self.out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
        self.repeated = false;
    }

    fn repetition(&mut self, operator: &str) -> Result<(), String> {
        if self.repeated {
            return Err("a repetition of a repetition".to_owned());
        }
        self.out.push_str(operator);
        if self.peek(0) == Some('?') {
            self.at += 1;
            self.out.push('?');
        }
        self.repeated = true;
        Ok(())
    }

    /// `{n}`, `{n,}` and `{n,m}` repeat; any other brace is itself.
    fn brace(&mut self) -> Result<(), String> {
        let rest: String = self.chars[self.at..].iter().take(16).collect();
        let Some((inside, _)) = rest.split_once('}') else {
            self.literal('{');
            return Ok(());
        };
        let is_number = |text: &str| {
            !text.is_empty()
                && text.bytes().all(|b| b.is_ascii_digit())
                && (text == "0" || !text.starts_with('0'))
        };
        let (least, most) = inside.split_once(',').unwrap_or((inside, inside));
        if !is_number(least) || !(most.is_empty() || is_number(most)) {
            self.literal('{');
            return Ok(());
        }
        let limit = |text: &str| text.parse::<u32>().is_ok_and(|n| n <= 1000);
        if !limit(least) || !(most.is_empty() || limit(most)) {
            return Err("more than 1000 repetitions".to_owned());
        }
        self.at += inside.chars().count() + 1;
        self.repetition(&format!("{{{inside}}}"))
    }

    /// `(?flags)`, `(?flags:`, `(?P<name>` and `(?<name>`; Go knows the flags i, m, s and U.
    fn group(&mut self) -> Result<(), String> {
        let end = self.chars[self.at..].iter().position(|c| matches!(c, ':' | ')' | '<' | '>'));
        let Some(end) = end else { return Err("an unfinished group".to_owned()) };
        let head: String = self.chars[self.at + 1..self.at + end].iter().collect();
        let is_name = matches!(self.peek(end), Some('<')) && matches!(&*head, "" | "P");
        let is_flags = head.chars().all(|c| "imsU-".contains(c));
        let is_flags = is_flags && matches!(self.peek(end), Some(':' | ')'));
        if !is_name && !is_flags {
            return Err(format!("`(?{head}` is not known"));
        }
        self.out.push('(');
        self.out.extend(&self.chars[self.at..=self.at + end]);
        self.at += end + 1;
        self.repeated = false;
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        let Some(c) = self.peek(0) else { return Err("a final backslash".to_owned()) };
        self.at += 1;
        self.repeated = false;
        match c {
            'A' | 'z' => self.out.extend(['\\', c]),
            'b' => self.out.push_str("(?-u:\\b)"),
            'B' => self.out.push_str("(?-u:\\B)"),
            'Q' => self.quoted(),
            'C' => return Err("`\\C` is not supported".to_owned()),
            _ => {
                let text = self.escaped(c, false)?;
                self.out.push_str(&text);
            }
        }
        Ok(())
    }

    fn quoted(&mut self) {
        while let Some(c) = self.peek(0) {
            if c == '\\' && self.peek(1) == Some('E') {
                self.at += 2;
                return;
            }
            self.at += 1;
            self.literal(c);
        }
    }

    /// What an escape stands for, outside or `inside` a class; `c` is read already.
    fn escaped(&mut self, c: char, inside: bool) -> Result<String, String> {
        let class = |text: &str, negated: bool| match (inside, negated) {
            (true, false) => text.to_owned(),
            (_, false) => format!("[{text}]"),
            (_, true) => format!("[^{text}]"),
        };
        Ok(match c {
            'd' => class("0-9", false),
            'D' => class("0-9", true),
            's' => class("\\t\\n\\x0C\\r ", false),
            'S' => class("\\t\\n\\x0C\\r ", true),
            'w' => class("0-9A-Za-z_", false),
            'W' => class("0-9A-Za-z_", true),
            'a' => "\\x07".to_owned(),
            'f' => "\\x0C".to_owned(),
            'v' => "\\x0B".to_owned(),
            'n' | 'r' | 't' => format!("\\{c}"),
            'x' => self.hexadecimal()?,
            'p' | 'P' => self.property(c),
            '0'..='7' if c == '0' || self.peek(0).is_some_and(|next| next.is_digit(8)) => {
                self.octal(c)
            }
            c if c.is_ascii_punctuation() => format!("\\x{{{:X}}}", u32::from(c)),
            c => return Err(format!("the escape `\\{c}` is not known")),
        })
    }

    /// Up to three octal digits, of which `first` is read already; a lone digit is a reference back.
    fn octal(&mut self, first: char) -> String {
        let mut value = first.to_digit(8).unwrap_or(0);
        for _ in 0..2 {
            let Some(digit) = self.peek(0).and_then(|c| c.to_digit(8)) else { break };
            value = value * 8 + digit;
            self.at += 1;
        }
        format!("\\x{{{value:X}}}")
    }

    fn hexadecimal(&mut self) -> Result<String, String> {
        let rest: String = self.chars[self.at..].iter().take(10).collect();
        let digits = match rest.strip_prefix('{') {
            Some(braced) => braced.split_once('}').map(|(digits, _)| digits.to_owned()),
            None => rest.get(..2).map(str::to_owned),
        };
        let Some(digits) = digits.filter(|d| u32::from_str_radix(d, 16).is_ok()) else {
            return Err("an unfinished `\\x`".to_owned());
        };
        self.at += digits.len() + if rest.starts_with('{') { 2 } else { 0 };
        Ok(format!("\\x{{{digits}}}"))
    }

    fn property(&mut self, c: char) -> String {
        let rest: String = self.chars[self.at..].iter().collect();
        let name = match rest.strip_prefix('{').and_then(|braced| braced.split_once('}')) {
            Some((name, _)) => format!("{{{name}}}"),
            None => rest.chars().take(1).collect(),
        };
        self.at += name.chars().count();
        format!("\\{c}{name}")
    }

    /// A class; `[` is read already. Go knows no sets of sets: `[`, `&&`, `--` and `~~` are literal.
    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        self.repeated = false;
        if self.peek(0) == Some('^') {
            self.at += 1;
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let Some(c) = self.peek(0) else { return Err("a class without `]`".to_owned()) };
            self.at += 1;
            match c {
                ']' if !first => break,
                '[' if self.peek(0) == Some(':') => self.named_class()?,
                '\\' => {
                    let Some(c) = self.peek(0) else { return Err("a final backslash".to_owned()) };
                    self.at += 1;
                    let text = self.escaped(c, true)?;
                    self.out.push_str(&text);
                }
                '[' | ']' | '&' | '~' | '^' => self.out.extend(['\\', c]),
                '-' if first || self.peek(0) == Some(']') => self.out.push_str("\\-"),
                _ => self.out.push(c),
            }
            first = false;
        }
        self.out.push(']');
        Ok(())
    }

    fn named_class(&mut self) -> Result<(), String> {
        let rest: String = self.chars[self.at..].iter().collect();
        let Some((name, _)) = rest.split_once(":]") else {
            self.out.push_str("\\[");
            return Ok(());
        };
        self.at += name.chars().count() + 2;
        self.out.push('[');
        self.out.push_str(name);
        self.out.push_str(":]");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, text: &str) -> bool {
        compile_anchored(pattern).unwrap().is_match(text)
    }

    #[test]
    fn classes_are_ascii_as_in_go() {
        assert!(fits(r"\d+", "123"));
        assert!(!fits(r"\d", "\u{663}"));
        assert!(!fits(r"\w", "\u{e9}"));
        assert!(fits(r"\W", "\u{e9}"));
        assert!(fits(r"[\d.]+", "1.2"));
        assert!(!fits(r"\s", "\u{b}"));
    }

    #[test]
    fn braces_are_literal_unless_they_repeat() {
        assert!(fits("a{2}", "aa"));
        assert!(fits("a{1,2}b", "ab"));
        assert!(fits("{{x}}", "{{x}}"));
        assert!(fits("a{,2}", "a{,2}"));
        assert!(fits("[a-z.{}-]+", "a.{}-"));
    }

    #[test]
    fn classes_hold_no_classes() {
        assert!(fits("[[a]", "["));
        assert!(fits("[a&&b]", "&"));
        assert!(fits("[[:alpha:]]+", "ab"));
        assert!(fits("[]a]", "]"));
    }

    #[test]
    fn escaped_punctuation_is_itself() {
        assert!(fits(r"a\.b\-c\/d\_", "a.b-c/d_"));
        assert!(fits(r"\<a\>", "<a>"));
        assert!(fits(r"\Qa.b\E", "a.b"));
        assert!(!fits(r"\Qa.b\E", "axb"));
        assert!(fits(r"\x41\x{42}\103", "ABC"));
    }

    #[test]
    fn what_go_refuses_is_refused() {
        for pattern in ["a**", "(", "[a", "a\\", r"\1", "(?x)a", "(?=a)", "*", r"\Z", "a{1001}"] {
            assert!(compile(pattern).is_err(), "{pattern}");
        }
    }
}
