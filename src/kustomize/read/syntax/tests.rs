use super::*;

/// The document in brackets: `(…)` for mappings, `[…]` for sequences, `*` for aliases.
fn shown(text: &str) -> String {
    fn show(syntax: &Syntax<'_>, id: SyntaxId) -> String {
        let children = || -> Vec<String> {
            syntax.children(id).iter().map(|child| show(syntax, *child)).collect()
        };
        match &syntax.node(id).form {
            Form::Scalar(text, _) => format!("{text:?}"),
            Form::Seq => format!("[{}]", children().join(" ")),
            Form::Map => format!("({})", children().join(" ")),
            Form::Alias(..) => "*".to_owned(),
        }
    }
    match Syntax::parse(text, Rules::Resource) {
        Ok(syntax) => syntax.root().map_or("nothing".to_owned(), |root| show(&syntax, root)),
        Err(error) => format!("error at {}:{}", error.line, error.column),
    }
}

/// Each as go-yaml 3.0.3 reads it.
#[test]
fn blocks_are_read_by_their_indentation() {
    assert_eq!(
        shown("a: 1\nb:\n- x\n- y: z\n  w:\nc: d\n"),
        r#"("a" "1" "b" ["x" ("y" "z" "w" "")] "c" "d")"#
    );
    assert_eq!(shown("- - a\n  - b\n-\n- c\n"), r#"[["a" "b"] "" "c"]"#);
    assert_eq!(shown("? a\n: b\n? c\n"), r#"("a" "b" "c" "")"#);
    assert_eq!(shown("a: b\n  c\n\n  d\ne: f"), r#"("a" "b c\nd" "e" "f")"#);
    assert_eq!(shown("a: &x {b: c}\nd: *x\n"), r#"("a" ("b" "c") "d" *)"#);
    assert_eq!(shown("# nothing\n"), "nothing");
    assert_eq!(shown("--- # c\n...\n"), r#""""#);
}

#[test]
fn texts_in_brackets_end_where_go_yaml_ends_them() {
    assert_eq!(shown("[a, {b: c, d}, e: f]"), r#"["a" ("b" "c" "d" "") ("e" "f")]"#);
    assert_eq!(shown("[-, ., x]"), r#"["-" "." "x"]"#);
    assert_eq!(shown("{a: b?c}"), "error at 1:6");
    assert_eq!(shown("{?a: b}"), r#"("a" "b")"#);
    assert_eq!(shown("[!, x]"), r#"["x"]"#);
    assert_eq!(shown("{a: b"), "error at 2:1");
}

#[test]
fn blocks_of_text_are_folded_and_chomped() {
    assert_eq!(
        shown("a: |\n  x\n   y\n\nb: >-\n  x\n  y\n\n  z\n"),
        r#"("a" "x\n y\n" "b" "x y\nz")"#
    );
    assert_eq!(shown("a: |+\n  x\n\n"), r#"("a" "x\n\n")"#);
    assert_eq!(shown("a: |2\n   x\n"), r#"("a" " x\n")"#);
    assert_eq!(shown("a: |\n\tx\n"), "error at 1:4");
}

#[test]
fn quotes_fold_and_escape() {
    assert_eq!(shown("'it''s'"), r#""it's""#);
    assert_eq!(shown("\"a\\\n  b\\x41\\n \n\n c\""), r#""abA\n\nc""#);
    assert_eq!(shown("\" \u{2028}--\""), "\"\\u{2028}--\"");
    assert_eq!(shown("\"a\\q\""), "error at 1:1");
}

#[test]
fn tabs_do_not_begin_lines() {
    assert_eq!(shown("-\ta: b\n"), "error at 1:2");
    assert_eq!(shown("a:\tb\t# c\n"), r#"("a" "b")"#);
    assert_eq!(shown("a: 1\n\t# c\nb: 2\n"), "error at 1:4");
}

#[test]
fn limits_hold() {
    assert_eq!(shown(&"[".repeat(2000)), "error at 1:1001");
    let doubling: String =
        (1..40).map(|n| format!("- &a{n} [*a{}, *a{}]\n", n - 1, n - 1)).collect();
    assert!(shown(&format!("- &a0 x\n{doubling}")).starts_with("error at "));
}
