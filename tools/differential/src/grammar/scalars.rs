//! Scalars: mostly plain words, sometimes one of each class that YAML readers disagree about.

use super::text::{Value, quoted, s};
use crate::random::Random;

/// Plain and quoted scalars of every class, as they are written.
const ODD: &[&str] = &[
    "",
    "~",
    "null",
    "Null",
    "NULL",
    "nUll",
    "true",
    "True",
    "TRUE",
    "false",
    "tRue",
    "y",
    "Y",
    "yes",
    "Yes",
    "n",
    "no",
    "NO",
    "on",
    "On",
    "ON",
    "off",
    "OFF",
    "oN",
    "0",
    "1",
    "-1",
    "+1",
    "-0",
    "00",
    "0123",
    "0789",
    "08",
    "1_000",
    "1_",
    "0_1",
    "_1",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "123456789012345678901234567890",
    "9007199254740993",
    "0x10",
    "0X1f",
    "0x_1F",
    "0b101",
    "0b2",
    "0o17",
    "0o8",
    "0xG",
    "-0x10",
    "-0b1",
    "-0o7",
    "-012",
    "0x",
    "1.0",
    "1.10",
    ".5",
    "5.",
    "-.5",
    "1e3",
    "1E3",
    "1.e3",
    "1e+3",
    "1e-3",
    "1e",
    "1.2.3",
    "1234e56",
    "1e400",
    "123e456",
    "12e4567",
    "0.1",
    "1e21",
    "1e20",
    "1e-7",
    "0.000001",
    "1_000.5",
    "._5",
    ".",
    "..",
    "0.0",
    "-0.0",
    "3.14159265358979323846",
    ".inf",
    "-.inf",
    ".nan",
    "inf",
    "NaN",
    "2001-01-02",
    "2001-1-2",
    "2001-01-02T03:04:05Z",
    "2001-01-02 03:04:05",
    "2001-01-02T03:04:05+02:00",
    "2001-13-01",
    "2001-01-02 03:04:05.678",
    "2001-01",
    "12:30",
    "12:30:45",
    "190:20:30",
    "=",
    "a=b",
    "a:b",
    "http://x:80/y",
    "a,b",
    "a'b",
    "\"\"",
    "''",
    "\"1\"",
    "'1'",
    "\"true\"",
    "\"null\"",
    "\"y\"",
    "\"on\"",
    "\"1e3\"",
    "\"0x10\"",
    "\"010\"",
    "\"~\"",
    "\"2001-01-01\"",
    "\"12:30:45\"",
    "\"<<\"",
    "\"=\"",
    "'it''s'",
    "\"- a\"",
    "\"a: b\"",
    "\"a #b\"",
    "\"#a\"",
    "\" a\"",
    "\"a \"",
    "\"a\\nb\"",
    "\"a\\nb\\n\"",
    "\"\\n\"",
    "\"a\\tb\"",
    "\"\\ta\"",
    "\"a\\n\\tb\"",
    "\"a \\nb\"",
    "\"\\na\"",
    "\"a\\r\\nb\"",
    "\"\\u00e9\"",
    "é",
    "日本",
    "🎉",
    "\"\\U0001F389\"",
    "\"a\\u00a0b\"",
    "\"\\u2028\"",
    "\"a\\u0085b\"",
    "\"\\ufeffa\"",
    "\"\\a\"",
    "\"\\e[0m\"",
    "!!str 12",
    "!!int \"12\"",
    "!!float 1",
    "!!bool \"true\"",
    "!!str true",
    "!!null \"\"",
    "!custom x",
    "!!binary aGVsbG8=",
    "\"{}\"",
    "\"[]\"",
    "\"|\"",
    "\">\"",
    "\"---\"",
    "\"&a\"",
    "\"*a\"",
    "\"!a\"",
    "\"%a\"",
    "\"@a\"",
    "\"`a\"",
    "\"? a\"",
    "\"a:\"",
    "\"-\"",
    "\":\"",
    "\"?\"",
    "$(A)",
    "\"$(A)-x\"",
    "100m",
    "1Gi",
    "0644",
];

/// Words that mean themselves.
pub(crate) const WORDS: &[&str] = &["a", "b", "web", "api", "value", "x-y", "v1.2", "front"];

/// Characters that decide how a string is printed.
const NASTY: &[char] = &[
    'a', 'b', '0', '1', ' ', ' ', ':', '#', '-', '?', ',', '[', ']', '{', '}', '&', '*', '!', '|',
    '>', '\'', '"', '%', '@', '`', '\\', '\t', '\n', '\n', '~', '=', '<', '.', '_', '/', '$', 'é',
    '日', '🎉', '\u{a0}', 'e', 'x', 'y', '+', ';', '(', ')', '^', '\r', '\u{2028}', '\u{7}',
];

/// Characters of numbers and dates.
const NUMBER: &[char] =
    &['0', '1', '2', '7', '8', '9', '.', '-', '+', '_', 'e', 'E', 'x', 'o', 'b', ':', 'T'];

/// Any scalar: a word more often than not.
pub(crate) fn any(random: &mut Random) -> Value {
    match random.below(20) {
        0..=9 => s(random.word(WORDS)),
        10 | 11 => s(random.between(0, 5000).to_string()),
        12 => s(random.word(&["true", "false"])),
        13 => s(number_like(random)),
        14 => block(random),
        15 | 16 => s(quoted(&nasty(random))),
        _ => s(random.word(ODD)),
    }
}

/// A string, quoted so that every reader takes it as one.
pub(crate) fn string(random: &mut Random) -> Value {
    match random.below(10) {
        0..=5 => s(random.word(WORDS)),
        6 => s(quoted(&nasty(random))),
        7 => s(quoted(&number_like(random))),
        _ => s(quoted(&random.word(ODD).replace(['"', '\\'], ""))),
    }
}

/// A string of characters that matter to printing; now and then long enough to be folded.
pub(crate) fn nasty(random: &mut Random) -> String {
    if random.chance(8) {
        let word = random.word(&["word", "a:b", "it's", "日本", "x#", "\"q\"", "-"]);
        let joint = random.word(&[" ", " ", "  ", "", "\n"]);
        return vec![word; random.between(15, 50)].join(&joint);
    }
    let length = random.below(9);
    (0..length).map(|_| *random.pick(NASTY)).collect()
}

fn number_like(random: &mut Random) -> String {
    let mut text: String = (0..random.between(1, 8)).map(|_| *random.pick(NUMBER)).collect();
    // What would be a list entry or a key instead of a scalar.
    while text.ends_with(':') || text.starts_with([':', '-']) && text.len() == 1 {
        text.push('1');
    }
    text
}

fn block(random: &mut Random) -> Value {
    const LINES: &[&str] = &[
        "one",
        "two words",
        "",
        "  deeper",
        "# no comment",
        "- a",
        "key: value",
        "tab\tinside",
        "trailing ",
        "é",
        "---",
        "\"q\"",
        "{",
        "🎉 x",
        "$(A)",
    ];
    let header = *random.pick(&["|", "|-", "|+", ">", ">-", ">+", "|", "|"]);
    let mut lines: Vec<String> =
        vec![random.word(&["one", "# first", "- x", "k: v", "{\"a\": 1}"])];
    lines.extend((0..random.below(4)).map(|_| random.word(LINES)));
    Value::Block(header, lines)
}

/// A key: mostly a word, rarely something that reads as another type.
pub(crate) fn key(random: &mut Random) -> String {
    if random.rarely(6) {
        return random.word(&[
            "1",
            "true",
            "\"1\"",
            "\"true\"",
            "null",
            "1.5",
            "\"null\"",
            "y",
            "\"y\"",
            "2001-01-01",
            "\"010\"",
        ]);
    }
    if random.rarely(40) {
        return random.word(&[
            "on",
            "yes",
            "é",
            "\"a b\"",
            "x.example.org/y",
            "\"a: b\"",
            "_u",
            "A",
            "-x",
            "\"-\"",
            "k10",
            "k9",
        ]);
    }
    random.word(&["alpha", "beta", "gamma", "key", "x-y", "x.y", "zeta", "k1", "k2"])
}
