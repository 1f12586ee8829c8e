use super::*;

fn sources(text: &str) -> Vec<&str> {
    let tree = parse(text).unwrap();
    let scalar = |id: &NodeId| tree.node(*id).scalar().is_some();
    tree.ids().filter(scalar).map(|id| tree.source(id)).collect()
}

fn collection(text: &str) -> &str {
    let tree = parse(text).unwrap();
    let value = tree.value_of(tree.roots()[0], "k").unwrap();
    tree.source(value)
}

#[test]
fn an_unindented_sequence_starts_at_its_first_dash() {
    assert_eq!(collection("k: # - c\n- a\n- b # c\n# d\n"), "- a\n- b");
    assert_eq!(collection("k: &- # - c\n- - a\n"), "- - a");
    assert_eq!(collection("k:\n  - - a\n  - b\nl: 1\n"), "- - a\n  - b");
    assert_eq!(collection("k:\n- # c\n  a: 1\n"), "- # c\n  a: 1");
}

#[test]
fn a_block_scalar_spans_header_and_body() {
    assert_eq!(collection("k: |- # c | d\n  a\n\n\n# e\nl: 1\n"), "|- # c | d\n  a");
    assert_eq!(collection("k: |+\n  a\n\n\n# e\nl: 1\n"), "|+\n  a\n\n\n");
    assert_eq!(collection("k: &a|b |\n  a"), "|\n  a");
    assert_eq!(collection("k: >2-\n    a\n  b\n"), ">2-\n    a\n  b");
    assert_eq!(collection("k: |\nl: 1\n"), "|");
    assert_eq!(collection("k: |-\r\n  a\r\n  b\r\n\r\n"), "|-\r\n  a\r\n  b");
}

#[test]
fn an_absent_value_is_an_empty_range() {
    let tree = parse("a:\nb: ~\nc: !!str\nd: &x\ne: [ , ]\n").err().map(|e| e.line);
    assert_eq!(tree, Some(5));
    let tree = parse("a:\nb: ~\nc: !!str\nd: &x\ne: {f: , g}\n").unwrap();
    let absent = |id: &NodeId| tree.node(*id).is_absent();
    let lines: Vec<u32> = tree.ids().filter(absent).map(|id| tree.node(id).line).collect();
    assert_eq!(lines, [1, 3, 4, 5, 5]);
    assert_eq!(
        tree.ids().filter(absent).filter_map(|id| tree.node(id).scalar()).collect::<String>(),
        ""
    );
}

#[test]
fn the_last_line_of_a_block_scalar_at_the_end_has_no_break() {
    let tree = parse("k: |\n  x").unwrap();
    assert_eq!(tree.node(tree.value_of(tree.roots()[0], "k").unwrap()).scalar(), Some("x"));
}

#[test]
fn lines_and_columns_count_from_one_without_the_mark() {
    let tree = parse("\u{feff}ä: b\r\nc:\r\n- |\r\n  d\r\n").unwrap();
    let places: Vec<_> = tree.nodes().iter().map(|n| (n.line, n.column)).collect();
    assert_eq!(places, [(1, 1), (1, 1), (1, 4), (2, 1), (3, 1), (3, 3)]);
}

#[test]
fn every_document_has_a_root() {
    let tree = parse("# a\n---\nb: 1\n---\n...\n---\n- c\n").unwrap();
    assert_eq!(tree.roots().len(), 3);
    assert!(tree.node(tree.roots()[1]).is_absent());
    assert_eq!(parse("").unwrap().roots().len(), 0);
    assert_eq!(parse("a: 1\n---\nb: [\n").unwrap_err().line, 3);
}

#[test]
fn aliases_know_their_anchor() {
    let tree = parse("a: &x {b: 1}\nc: *x\nd: &x 2\ne: *x\n").unwrap();
    assert_eq!(tree.anchors().iter().map(|a| a.uses).collect::<Vec<_>>(), [1, 1]);
    let e = tree.value_of(tree.roots()[0], "e").unwrap();
    assert_eq!(tree.source(tree.target(e)), "2");
}

#[test]
fn an_alias_needs_an_anchor_that_is_complete() {
    assert_eq!(parse("a: *x\n").unwrap_err().line, 1);
    let own = parse("a: &x\n  b: *x\n").unwrap_err();
    assert_eq!((own.line, own.column), (2, 6));
    assert_eq!(parse("a: &x 1\n---\nb: *x\n").unwrap_err().line, 3);
}

#[test]
fn an_alias_bomb_is_an_error() {
    let mut text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
    for i in 1..60 {
        let uses = vec![format!("*a{}", i - 1); 10].join(", ");
        text.push_str(&format!("a{i}: &a{i} [{uses}]\n"));
    }
    let error = parse(&text).unwrap_err();
    assert!(error.message.contains("aliases expand"), "{error}");
}

#[test]
fn deep_nesting_is_an_error() {
    let flow = "[".repeat(100_000);
    let block = "- ".repeat(100_000);
    let maps = "{a: ".repeat(100_000);
    let lines: String = (0..2_000).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    for text in [flow, block, maps, lines] {
        let error = parse(&text).unwrap_err();
        assert!(!error.message.is_empty());
    }
}

#[test]
fn scalars_keep_their_source() {
    assert_eq!(sources("'a b': \"c\\n\"\nd: e\n  f\n"), ["'a b'", "\"c\\n\"", "d", "e\n  f"]);
}

#[test]
fn blanks_beyond_the_indentation_are_content_of_a_literal() {
    assert_eq!(collection("k: |\n  a  \n    \n\nl: 1\n"), "|\n  a  \n    ");
    assert_eq!(collection("k: |+\n\n\nl: 1\n"), "|+\n\n\n");
    assert_eq!(collection("k: |+\nl: 1\n"), "|+");
    assert_eq!(collection("k: |+ # c\n  a\n\n  \nl: 1\n"), "|+ # c\n  a\n\n  \n");
    assert_eq!(collection("k: |+\n  a"), "|+\n  a");
    assert_eq!(collection("k: >\n  a  \n\nl: 1\n"), ">\n  a  ");
}
