//! The scalar rules against kustomize itself: thousands of scalars in one build each.

use std::fmt::Write as _;
use std::fs;

use overlay::yaml::scalar::{encode, plain_is_safe, resolve, timestamp};
use overlay::yaml::{Kind, Resolved, Rules, Style, parse};

use crate::support;
use crate::support::random::Random;

/// The words of every class, and their near misses.
const WORDS: &str = "
    ~ null Null NULL nUll nuLL true True TRUE tRue false False FALSE y Y yes Yes YES yEs on On ON oN n N no No NO off Off
    OFF oFF 0 00 08 0789 0123 0_1 1_000 1_ _1 +1 -1 +-1 0x 0x1F 0X1f 0x_1F 0xG 0b101 0B1 0b2 0b -0b11 +0b1 0o17 0O17
    0o8 -0o17 0b-1 0o-7 0b+1 -0x1F 1.10 1. .5 . ._5 .5_0 .5__0 .5_ .5_e3 .5e1_0 ._ +.5 -.5_0 1e3 1.e3 1E+3 1e-3 1e 1e400 123e456 12e4567 1234e56
    685_230.15 9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809
    18446744073709551615 18446744073709551616 +9223372036854775808 0x1FFFFFFFFFFFFFFFF 0b1111111111
    12:30 190:20:30 12:30:45 1.2.3 1.10-alpine 706798e8 4200077 0e12345 e1 v2 latest _x inf NaN nan Infinity + - -- --- -x
    2024-01-02 2001-1-1 2024-02-30 2023-02-29 2024-02-29 2024-13-01 2024-00-01 2001-1-1T2:3:4Z 2001-01-01t02:03:04.5+02:00
    2001-01-01T02:03:04.123456789123Z 2001-01-01T02:03:04,5Z 2001-01-01T25:00:00Z 2001-01-01T02:03:04+00:00
    2001-01-01T02:03:04-05:30 2001-01-01T02:03:04 2001-01-01T 20011-1-1 2001-1-1x << = 0.0 -0 +0 -0.0 0_ 0x_ 1__0 00.5 0.5.
    1e5_0 _ __ 0b_1 0o_7 +0x_1 .e3 .5e3 .5e .5. 5..5 5.5.5 0x1p-2 1,000 1e+ 7_.5 0777 0778 -0777 +0777 1_e3 1e_3 00x1 0B_1";

fn candidates() -> Vec<String> {
    let mut texts: Vec<String> = WORDS.split_whitespace().map(str::to_owned).collect();
    texts.extend(
        ["2001-1-1 2:3:4", "2001-1-1  2:3:4.5", "2001-1-1 2:3:4 Z", "a b"].map(str::to_owned),
    );
    let mut random = Random::of_text("scalars");
    for alphabet in ["0123_.eE+-", "01278_xXoObB+-", "0123456789", "01-2:T.Z ", "yYnNoOfFaAlLuUtT~"]
    {
        let letters: Vec<char> = alphabet.chars().collect();
        for _ in 0..600 {
            let length = 1 + random.below(7);
            texts.push((0..length).map(|_| letters[random.below(letters.len())]).collect());
        }
    }
    texts.extend(
        (0..200).map(|_| {
            format!("20{:02}-{}-{}", random.below(100), random.below(14), random.below(33))
        }),
    );
    texts.retain(|t| is_plain(t));
    texts.sort();
    texts.dedup();
    texts
}

/// Whether the text stands as one plain scalar behind a key.
fn is_plain(text: &str) -> bool {
    let line = format!("k: {text}\n");
    let Ok(tree) = parse(&line) else { return false };
    let value = tree.value_of(tree.roots()[0], "k").unwrap();
    matches!(&tree.node(value).kind, Kind::Scalar { value, style: Style::Plain } if value == text)
}

/// A resource with many fields, from text for each.
fn resource(fields: &[String]) -> String {
    let mut out =
        "apiVersion: x.test/v1\nkind: Thing\nmetadata:\n  name: t\nspec:\n  first: x\n".to_owned();
    fields.iter().enumerate().for_each(|(i, text)| writeln!(out, "  k{i}: {text}").unwrap());
    out
}

/// What kustomize prints for a field: the decoded text, and whether it stands in quotes or is a block.
type Printed = (String, bool);

/// What kustomize prints for the fields, given as resource or as JSON 6902 patch; for `{f: x}` what it prints for `x`.
fn built(fields: &[String], rules: Rules) -> Option<Vec<Printed>> {
    let judge = support::judge()?;
    let dir = tempfile::tempdir().unwrap();
    let mut kustomization = "resources: [r.yaml]\n".to_owned();
    if rules == Rules::Kustomization {
        fs::write(dir.path().join("r.yaml"), resource(&[])).unwrap();
        kustomization.push_str("patches:\n- path: p.yaml\n  target: {kind: Thing}\n");
        let mut patch = String::new();
        for (i, text) in fields.iter().enumerate() {
            writeln!(patch, "- op: add\n  path: /spec/k{i}\n  value: {text}").unwrap();
        }
        fs::write(dir.path().join("p.yaml"), patch).unwrap();
    } else {
        fs::write(dir.path().join("r.yaml"), resource(fields)).unwrap();
    }
    fs::write(dir.path().join("kustomization.yaml"), kustomization).unwrap();
    let out = judge.build(dir.path()).unwrap_or_else(|e| panic!("{}", &e[..e.len().min(2000)]));
    let tree = parse(&out).unwrap();
    let spec = tree.value_of(tree.roots()[0], "spec").unwrap();
    let field = |i: usize| {
        let Some(value) = tree.value_of(spec, &format!("k{i}")) else {
            return ("(no field)".to_owned(), true);
        };
        let node = tree.node(tree.value_of(value, "f").unwrap_or(value));
        (node.scalar().unwrap().to_owned(), node.style() != Some(Style::Plain))
    };
    Some((0..fields.len()).map(field).collect())
}

/// Whether kustomize took the text for what we take it for. It quotes every string that would read as something
/// else, so plain text that is no number, boolean or null is a string.
fn agrees(text: &str, resolved: Resolved, (printed, is_quoted): &Printed) -> bool {
    let number = printed.parse::<f64>().ok().filter(|f| f.is_finite() && !is_quoted);
    let is_word = !is_quoted && matches!(printed.as_str(), "true" | "false" | "null");
    match resolved {
        Resolved::Null => is_word && printed == "null",
        Resolved::Bool(b) => is_word && *printed == b.to_string(),
        Resolved::Int(i) => number == Some(i as f64),
        Resolved::Float(f) => number == Some(f),
        Resolved::Str => printed == text && number.is_none() && !is_word,
        Resolved::Timestamp => *is_quoted && Some(printed) == timestamp(text).as_ref(),
    }
}

fn compare(rules: Rules) {
    let finite = |t: &String| !matches!(resolve(t, rules), Resolved::Float(f) if !f.is_finite());
    let texts: Vec<String> = candidates().into_iter().filter(finite).collect();
    let Some(printed) = built(&texts, rules) else { return };
    let pairs = texts.iter().zip(&printed);
    let wrong: Vec<String> = pairs
        .filter(|(text, printed)| !agrees(text, resolve(text, rules), printed))
        .map(|(text, printed)| {
            format!("{text:?}: we {:?}, kustomize {printed:?}", resolve(text, rules))
        })
        .collect();
    eprintln!("{} scalars, {rules:?}", texts.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn scalars_of_a_json_patch_resolve_as_in_kustomize() {
    compare(Rules::Kustomization);
}

#[test]
fn scalars_of_a_resource_resolve_as_in_kustomize() {
    compare(Rules::Resource);
}

#[test]
fn written_strings_come_back_through_kustomize() {
    // kustomize takes quadratic time for a patch of many operations: a sixth of the scalars.
    let mut texts: Vec<String> = candidates().into_iter().step_by(6).collect();
    texts.extend(
        [
            "",
            " ",
            " x",
            "x ",
            "a: b",
            "a:",
            ": a",
            "a #b",
            "#a",
            "it's",
            "say \"x\"",
            "a?b",
            "?a",
            "? a",
            "[x]",
            "{x",
            "- x",
            "-x",
            "back\\slash",
            "a,b",
            "tab\there",
            "line\nbreak",
            "a\n\nb\n",
            "*x",
            "&x",
            "!x",
            "|",
            ">",
            "%x",
            "@x",
            "`x",
            "é€🙂",
            "a\u{a0}b",
            "http://x.y:80/z?q=1&r",
            "sha256:00ff",
            "k8s.io/x@sha256:00",
            "a\u{85}b",
            "a\u{2028}b",
            "\u{feff}x",
            "---",
            "...",
            "--- a",
            "<<",
            "=",
            "x:y",
            "a\t#b",
            "a:\tb",
            "{{ x }}",
            "$(VAR)",
            "a]",
            "'",
            "\"",
            "''",
            ",",
            "-",
            "?",
            ":",
            "~x",
        ]
        .map(str::to_owned),
    );
    let mut fields = Vec::new();
    for text in &texts {
        for style in [Style::Plain, Style::SingleQuoted, Style::DoubleQuoted] {
            fields.push(encode(text, style, false));
            fields.push(format!("{{f: {}}}", encode(text, style, true)));
        }
    }
    for rules in [Rules::Kustomization, Rules::Resource] {
        let Some(printed) = built(&fields, rules) else { return };
        for (i, value) in printed.iter().enumerate() {
            let text = &texts[i / 6];
            // go-yaml prints these as line breaks and not as escapes, for nobody but itself to read.
            let same = agrees(text, Resolved::Str, value) || text.contains(['\u{85}', '\u{2028}']);
            assert!(same, "{text:?} written {} came back as {value:?} ({rules:?})", fields[i]);
        }
        eprintln!("{} written strings, {rules:?}", fields.len());
    }
}

#[test]
fn common_values_need_no_quotes() {
    for text in [
        "app",
        "v1.2.3",
        "1.9.1",
        "sha256:00ff",
        "registry.test:5000/a/b",
        "1.10-alpine",
        "a-b_c",
        "./x.yaml",
        "../base",
    ] {
        assert!(plain_is_safe(text, true), "{text}");
    }
    for text in [
        "1.10",
        "16",
        "on",
        "y",
        "null",
        "2024-01-15",
        "1e3",
        "0x1F",
        "12:30",
        "a: b",
        "a #b",
        "-",
        "? x",
        "",
    ] {
        assert!(!plain_is_safe(text, false), "{text}");
    }
}
