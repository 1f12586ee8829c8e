//! Kubernetes' language of label selectors: `app=web,tier in (a, b),!canary`.
//!
//! Source: the grammar of `k8s.io/apimachinery/pkg/labels`, which kyaml carries along. Used for
//! `labelSelector` and `annotationSelector`; it knows pairs of texts only.

use std::iter::Peekable;
use std::vec::IntoIter;

/// Why a text is no label selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("label selector `{selector}`: {reason}")]
pub(crate) struct LabelSelectorError {
    /// The text.
    pub(crate) selector: String,
    /// What is wrong, in words.
    pub(crate) reason: String,
}

/// Requirements that all must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Exists,
    Absent,
    In(Vec<String>),
    NotIn(Vec<String>),
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    /// Reads a selector; the empty text selects everything.
    ///
    /// # Errors
    /// [`LabelSelectorError`] for anything that the grammar does not have.
    pub(crate) fn parse(text: &str) -> Result<Self, LabelSelectorError> {
        let error = |reason| LabelSelectorError { selector: text.to_owned(), reason };
        let tokens = tokens(text).map_err(error)?;
        let requirements = Parser { tokens: tokens.into_iter().peekable() }.parse();
        requirements.map(|requirements| Self { requirements }).map_err(error)
    }

    /// Whether the labels (or annotations) that `find` looks up fit every requirement.
    pub(crate) fn matches<'a>(&self, find: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|requirement| requirement.test.holds(find(&requirement.key)))
    }
}

impl Test {
    fn holds(&self, value: Option<&str>) -> bool {
        let is_one_of = |values: &[String]| value.is_some_and(|v| values.iter().any(|w| w == v));
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::Exists => value.is_some(),
            Self::Absent => value.is_none(),
            Self::In(values) => is_one_of(values),
            Self::NotIn(values) => !is_one_of(values),
            Self::Greater(limit) => number().is_some_and(|number| number > *limit),
            Self::Less(limit) => number().is_some_and(|number| number < *limit),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Symbol(&'static str),
}

const SYMBOLS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    if text.contains('\0') {
        return Err("a NUL character".to_owned());
    }
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches(is_blank);
    while !rest.is_empty() {
        if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            tokens.push(Token::Symbol(symbol));
            rest = &rest[symbol.len()..];
        } else {
            let end = rest.find(|c| is_blank(c) || "=!(),><".contains(c)).unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..end].to_owned()));
            rest = &rest[end..];
        }
        rest = rest.trim_start_matches(is_blank);
    }
    Ok(tokens)
}

struct Parser {
    tokens: Peekable<IntoIter<Token>>,
}

impl Parser {
    fn parse(mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        if self.tokens.peek().is_none() {
            return Ok(requirements);
        }
        loop {
            requirements.push(self.requirement()?);
            match self.tokens.next() {
                None => return Ok(requirements),
                Some(Token::Symbol(",")) => {}
                Some(token) => return Err(expected(Some(token), "`,` or the end")),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let negated = self.skip("!");
        let key = match self.tokens.next() {
            Some(Token::Word(word)) => word,
            token => return Err(expected(token, "`!` or a key")),
        };
        check_key(&key)?;
        let test = match self.tokens.peek() {
            None | Some(Token::Symbol(",")) if negated => Test::Absent,
            None | Some(Token::Symbol(",")) => Test::Exists,
            // Nothing may follow `!key`; the caller finds that out.
            _ if negated => Test::Absent,
            _ => self.test()?,
        };
        Ok(Requirement { key, test })
    }

    fn test(&mut self) -> Result<Test, String> {
        match self.tokens.next() {
            Some(Token::Symbol("=" | "==")) => Ok(Test::In(vec![self.value()?])),
            Some(Token::Symbol("!=")) => Ok(Test::NotIn(vec![self.value()?])),
            Some(Token::Symbol(">")) => Ok(Test::Greater(self.number()?)),
            Some(Token::Symbol("<")) => Ok(Test::Less(self.number()?)),
            Some(Token::Word(word)) if word == "in" => Ok(Test::In(self.values()?)),
            Some(Token::Word(word)) if word == "notin" => Ok(Test::NotIn(self.values()?)),
            token => Err(expected(token, "`=`, `==`, `!=`, `in` or `notin`")),
        }
    }

    fn value(&mut self) -> Result<String, String> {
        if matches!(self.tokens.peek(), None | Some(Token::Symbol(","))) {
            return Ok(String::new());
        }
        match self.tokens.next() {
            Some(Token::Word(word)) => checked_value(word),
            token => Err(expected(token, "a value")),
        }
    }

    fn number(&mut self) -> Result<i64, String> {
        let value = self.value()?;
        value.parse().map_err(|_| format!("`{value}` must be an integer after `<` and `>`"))
    }

    fn values(&mut self) -> Result<Vec<String>, String> {
        if !self.skip("(") {
            return Err(expected(self.tokens.next(), "`(`"));
        }
        let mut values = Vec::new();
        let mut pending = String::new();
        loop {
            match self.tokens.next() {
                Some(Token::Word(word)) if pending.is_empty() => pending = checked_value(word)?,
                Some(Token::Symbol(",")) => values.push(std::mem::take(&mut pending)),
                Some(Token::Symbol(")")) => {
                    values.push(pending);
                    return Ok(values);
                }
                token => return Err(expected(token, "`,`, `)` or a value")),
            }
        }
    }

    fn skip(&mut self, symbol: &str) -> bool {
        let here = matches!(self.tokens.peek(), Some(Token::Symbol(found)) if *found == symbol);
        if here {
            self.tokens.next();
        }
        here
    }
}

fn expected(found: Option<Token>, what: &str) -> String {
    match found {
        None => format!("{what} is missing at the end"),
        Some(Token::Word(word)) => format!("found `{word}` where {what} must stand"),
        Some(Token::Symbol(symbol)) => format!("found `{symbol}` where {what} must stand"),
    }
}

/// A letter or digit at both ends, `-`, `_` and `.` between, at most 63 characters.
fn is_qualified(text: &str) -> bool {
    let is_inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let is_end = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= 63
        && is_end(bytes.first())
        && is_end(bytes.last())
        && bytes.iter().all(|b| is_inner(*b))
}

fn is_subdomain(text: &str) -> bool {
    let is_inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(is_inner)
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

fn check_key(key: &str) -> Result<(), String> {
    let valid = match key.split_once('/') {
        None => is_qualified(key),
        Some((prefix, name)) => is_subdomain(prefix) && is_qualified(name),
    };
    if valid { Ok(()) } else { Err(format!("`{key}` is no valid label key")) }
}

fn checked_value(value: String) -> Result<String, String> {
    if value.is_empty() || is_qualified(&value) {
        Ok(value)
    } else {
        Err(format!("`{value}` is no valid label value"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(selector: &str, labels: &[(&str, &'static str)]) -> bool {
        let find = |key: &str| labels.iter().find(|(k, _)| *k == key).map(|(_, v)| *v);
        LabelSelector::parse(selector).unwrap().matches(find)
    }

    #[test]
    fn every_operator_holds_as_kubernetes_defines_it() {
        let labels = [("app", "web"), ("tier", "a"), ("n", "5")];
        for selector in [
            "",
            "app=web",
            "app == web , tier!=b",
            "tier in (b,a)",
            "tier notin (c)",
            "missing notin (c)",
            "missing!=x",
            "app",
            "!missing",
            "n>4,n<6",
            "x in (),app=web", // an empty set holds the empty value
        ] {
            let expected = !selector.starts_with("x in");
            assert_eq!(selects(selector, &labels), expected, "{selector}");
        }
        for selector in ["app=db", "missing", "!app", "tier in (b,c)", "missing in (c)", "n>5"] {
            assert!(!selects(selector, &labels), "{selector}");
        }
    }

    #[test]
    fn what_is_no_selector_is_an_error() {
        for selector in ["app=web,", "app==,=", "app in a", "a b", "app=we b", "-a=b", "n>x", "(a)"]
        {
            assert!(LabelSelector::parse(selector).is_err(), "{selector}");
        }
    }
}
