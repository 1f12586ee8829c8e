//! Hand-made documents and the one diff that is right for each edit.

use super::*;

fn open(text: &str) -> Document {
    Document::from_bytes("k.yaml", text.as_bytes()).unwrap()
}

fn entry() -> Value {
    Value::map([("name", Value::str("app")), ("digest", Value::str("sha256:00"))])
}

fn path(text: &str) -> Path {
    text.parse().unwrap()
}

/// Runs one edit and compares the text, and the edits applied to the original.
#[track_caller]
fn edited(old: &str, change: impl FnOnce(&mut Document) -> Result<(), Refusal>, new: &str) {
    let mut document = open(old);
    change(&mut document).unwrap();
    assert_eq!(document.text(), new);
    assert_eq!(crate::edit::apply_edits(old, &document.edits()).unwrap(), new);
}

#[track_caller]
fn refused(
    old: &str,
    change: impl FnOnce(&mut Document) -> Result<(), Refusal>,
    line: u32,
) -> Reason {
    let mut document = open(old);
    let refusal = change(&mut document).unwrap_err();
    assert_eq!(document.text(), old);
    assert_eq!(refusal.line, line, "{refusal}");
    refusal.reason
}

#[track_caller]
fn appended(old: &str, new: &str) {
    edited(old, |d| d.append(&path("images"), &entry()), new);
}

#[track_caller]
fn set(old: &str, at: &str, value: Value, new: &str) {
    edited(old, |d| d.set(&path(at), &value), new);
}

#[track_caller]
fn removed(old: &str, at: &str, new: &str) {
    edited(old, |d| d.remove(&path(at)), new);
}

#[test]
fn append_follows_the_dashes_of_the_list() {
    appended("images:\n- name: a\n", "images:\n- name: a\n- name: app\n  digest: sha256:00\n");
    appended(
        "images:\n  - name: a\n",
        "images:\n  - name: a\n  - name: app\n    digest: sha256:00\n",
    );
    appended(
        "images:\n-   name: a\n    newTag: b\n",
        "images:\n-   name: a\n    newTag: b\n-   name: app\n    digest: sha256:00\n",
    );
    appended(
        "images:\n- # why\n  name: a\n",
        "images:\n- # why\n  name: a\n- name: app\n  digest: sha256:00\n",
    );
}

#[test]
fn append_follows_the_quotes_of_the_list() {
    appended(
        "images:\n- name: 'a'\n  digest: \"sha256:1\"\n",
        "images:\n- name: 'a'\n  digest: \"sha256:1\"\n- name: 'app'\n  digest: \"sha256:00\"\n",
    );
}

#[test]
fn append_stands_before_what_belongs_to_the_next_key() {
    appended(
        "images:\n- name: a\n  # deeper\n\n# about resources\nresources: []\n",
        "images:\n- name: a\n  # deeper\n- name: app\n  digest: sha256:00\n\n# about resources\nresources: []\n",
    );
    appended(
        "images:\n  - name: a # tail\n  # - name: off\nresources: []\n",
        "images:\n  - name: a # tail\n  # - name: off\n  - name: app\n    digest: sha256:00\nresources: []\n",
    );
}

#[test]
fn append_keeps_blank_lines_between_entries() {
    appended(
        "images:\n- name: a\n\n# b\n- name: b\n\n\nx: 1\n",
        "images:\n- name: a\n\n# b\n- name: b\n\n- name: app\n  digest: sha256:00\n\n\nx: 1\n",
    );
}

#[test]
fn append_to_flow_lists_stays_flow() {
    appended("images: [{name: a}]\n", "images: [{name: a}, {name: app, digest: sha256:00}]\n");
    appended(
        "images: [ { name: a } ]\n",
        "images: [ { name: a }, { name: app, digest: sha256:00 } ]\n",
    );
    appended("images: [{name: a},]\n", "images: [{name: a}, {name: app, digest: sha256:00},]\n");
    appended(
        "images: [\n  {name: a}, # c\n  {name: b} # d\n]\n",
        "images: [\n  {name: a}, # c\n  {name: b}, # d\n  {name: app, digest: sha256:00}\n]\n",
    );
    appended(
        "images: [\n  {name: b}, # d\n]\n",
        "images: [\n  {name: b}, # d\n  {name: app, digest: sha256:00},\n]\n",
    );
    appended("images:\n- {name: a}\n", "images:\n- {name: a}\n- {name: app, digest: sha256:00}\n");
}

#[test]
fn append_to_json_writes_json() {
    appended(
        "{\"images\": [{\"name\": \"a\"}]}",
        "{\"images\": [{\"name\": \"a\"}, {\"name\": \"app\", \"digest\": \"sha256:00\"}]}",
    );
    appended(
        "{\"images\": []}\n",
        "{\"images\": [{\"name\": \"app\", \"digest\": \"sha256:00\"}]}\n",
    );
    appended(
        "{\"images\": null}",
        "{\"images\": [{\"name\": \"app\", \"digest\": \"sha256:00\"}]}",
    );
    appended(
        "{\n  \"kind\": \"K\"\n}\n",
        "{\n  \"kind\": \"K\",\n  \"images\": [{\"name\": \"app\", \"digest\": \"sha256:00\"}]\n}\n",
    );
    appended("{}\n", "{images: [{name: app, digest: sha256:00}]}\n");
}

#[test]
fn append_fills_null_and_empty_lists() {
    let item = "- name: app\n  digest: sha256:00\n";
    appended("images:\n", &format!("images:\n{item}"));
    appended("images: ~\nx: 1\n", &format!("images:\n{item}x: 1\n"));
    appended("images: [] # none yet\n", &format!("images: # none yet\n{item}"));
    appended(
        "images:   # by CI\nreplicas:\n- name: a\n",
        &format!("images:   # by CI\n{item}replicas:\n- name: a\n"),
    );
    appended("images: [ ]", "images:\n- name: app\n  digest: sha256:00");
    appended("images:", "images:\n- name: app\n  digest: sha256:00");
    appended(
        "resources:\n  - a\nimages: null\n",
        "resources:\n  - a\nimages:\n  - name: app\n    digest: sha256:00\n",
    );
    appended("{images: }\n", "{images: [{name: app, digest: sha256:00}] }\n");
    appended("{images}\n", "{images: [{name: app, digest: sha256:00}]}\n");
    appended("a: 1\nimages:\n# other\nb: 2\n", &format!("a: 1\nimages:\n{item}# other\nb: 2\n"));
}

#[test]
fn append_adds_an_absent_key() {
    let item = "images:\n- name: app\n  digest: sha256:00\n";
    appended("a: 1\n", &format!("a: 1\n{item}"));
    appended("a: 1\n# tail\n", &format!("a: 1\n{item}# tail\n"));
    appended("a: 1", "a: 1\nimages:\n- name: app\n  digest: sha256:00");
    appended("a: |\n  b\n\nc: 2\n\n\n", &format!("a: |\n  b\n\nc: 2\n\n{item}\n\n"));
    appended("a: |\n  b\n\n", &format!("a: |\n  b\n{item}\n"));
    appended("a: |+\n  b\n\n", &format!("a: |+\n  b\n\n{item}"));
    appended("# c\n---\na: 1\n...\n", &format!("# c\n---\na: 1\n{item}...\n"));
    appended("a: 1\n---\nb: 2\n", &format!("a: 1\n{item}---\nb: 2\n"));
    appended(
        "a:\n  - x\n  # - y\n# tail\n",
        "a:\n  - x\n  # - y\nimages:\n  - name: app\n    digest: sha256:00\n# tail\n",
    );
}

#[test]
fn append_to_an_empty_document() {
    let item = "images:\n- name: app\n  digest: sha256:00\n";
    appended("", item);
    appended("# only\n", &format!("# only\n{item}"));
    appended("---\n", &format!("---\n{item}"));
    appended("---\n# c\n...\n", &format!("---\n# c\n{item}...\n"));
    appended("# only", "# only\nimages:\n- name: app\n  digest: sha256:00");
}

#[test]
fn a_block_scalar_at_the_end_keeps_its_value() {
    appended("a: |\n  b", "a: |-\n  b\nimages:\n- name: app\n  digest: sha256:00");
    appended("a: |+2 # c\n  b", "a: |-2 # c\n  b\nimages:\n- name: app\n  digest: sha256:00");
    appended("a: >-\n  b", "a: >-\n  b\nimages:\n- name: app\n  digest: sha256:00");
}

#[test]
fn line_ends_and_marks_are_kept() {
    appended(
        "images:\r\n- name: a\r\n",
        "images:\r\n- name: a\r\n- name: app\r\n  digest: sha256:00\r\n",
    );
    appended("\u{feff}images: []\r\n", "\u{feff}images:\r\n- name: app\r\n  digest: sha256:00\r\n");
    appended(
        "\u{feff}images:\n- name: a\n",
        "\u{feff}images:\n- name: a\n- name: app\n  digest: sha256:00\n",
    );
    appended("\u{feff}a: 1\n", "\u{feff}a: 1\nimages:\n- name: app\n  digest: sha256:00\n");
}

#[test]
fn set_keeps_quotes_comment_and_spacing() {
    set("a:   v1   # c\n", "a", Value::str("v2"), "a:   v2   # c\n");
    set("a: 'v1'\n", "a", Value::str("1.10"), "a: '1.10'\n");
    set("a: \"v1\"\n", "a", Value::str("v\"2"), "a: \"v\\\"2\"\n");
    set("a: v1\n", "a", Value::str("1.10"), "a: \"1.10\"\n");
    set("a: v1\n", "a", Value::str("on"), "a: \"on\"\n");
    set("a: {b: v1}\n", "a.b", Value::str("x?y"), "a: {b: \"x?y\"}\n");
    set("count: 2\n", "count", Value::Int(10), "count: 10\n");
    set("count: \"2\"\n", "count", Value::Int(3), "count: 3\n");
    set("\"im\\u0061ge\": a\n", "image", Value::str("b"), "\"im\\u0061ge\": b\n");
}

#[test]
fn set_fills_absent_values() {
    set("a:\nb: 1\n", "a", Value::str("x"), "a: x\nb: 1\n");
    set("a:   # c\n", "a", Value::Int(1), "a: 1   # c\n");
    set("- \n- b\n", "[0]", Value::str("x"), "- x \n- b\n");
    set("{a: , b}\n", "a", Value::str("x"), "{a: x , b}\n");
    set("{a: , b}\n", "b", Value::str("x"), "{a: , b: x}\n");
    set("a: ~\n", "a", Value::str("x"), "a: x\n");
}

#[test]
fn set_shortens_scalars_of_many_lines() {
    set("a: one\n  two\nb: 1\n", "a", Value::str("x"), "a: x\nb: 1\n");
    set("a:\n  v1\nb: 1\n", "a", Value::str("v2"), "a:\n  v2\nb: 1\n");
    set("a: >- # c\n  v1\nb: 1\n", "a", Value::str("v2"), "a: v2 # c\nb: 1\n");
    set("a: |\n  v1\n  v2\n\nb: 1\n", "a", Value::str("x\ny\n"), "a: |\n  x\n  y\n\nb: 1\n");
    set("a: |+\n  v1\n\nb: 1\n", "a", Value::str("x"), "a: x\nb: 1\n");
}

#[test]
fn setting_the_same_value_changes_nothing() {
    let mut document = open("a: \"x\"\nb: z\nc: >-\n  z\n");
    document.set(&path("a"), &Value::str("x")).unwrap();
    document.set(&path("b"), &Value::str("z")).unwrap();
    document.set(&path("c"), &Value::str("z")).unwrap();
    assert_eq!(document.file_edit(), None);
}

#[test]
fn rename_keeps_the_line() {
    edited(
        "images:\n- name: a\n  newTag: \"v1\" # c\n",
        |d| d.rename_and_set(&path("images[name=a].newTag"), "digest", &Value::str("sha256:1")),
        "images:\n- name: a\n  digest: \"sha256:1\" # c\n",
    );
    let reason = refused(
        "images:\n- name: a\n  newTag: v1 # {\"$imagepolicy\": \"f:a:tag\"}\n",
        |d| d.rename_and_set(&path("images[name=a].newTag"), "digest", &Value::str("sha256:1")),
        3,
    );
    assert_eq!(reason, Reason::FluxSetter("{\"$imagepolicy\": \"f:a:tag\"}".into()));
    let twice = |d: &mut Document| d.rename_and_set(&path("a"), "b", &Value::str("x"));
    assert_eq!(refused("a: 1\nb: 2\n", twice, 1), Reason::KeyExists("b".into()));
}

#[test]
fn keys_are_added_beside_their_sibling() {
    let after = Position::After("name".into());
    let add = |d: &mut Document| d.insert_key(&path("[0]"), "newTag", &Value::str("v1"), &after);
    edited("- name: a # c\n  z: 1\n", add, "- name: a # c\n  newTag: v1\n  z: 1\n");
    let end =
        |d: &mut Document| d.insert_key(&path("[0]"), "newTag", &Value::str("v1"), &Position::End);
    edited("- name: a\n  # about b\n- b\n", end, "- name: a\n  newTag: v1\n  # about b\n- b\n");
    edited("- {name: a}\n", end, "- {name: a, newTag: v1}\n");
    let nested = Value::map([(
        "x",
        Value::Seq(vec![Value::Int(1), Value::map([("z", Value::Bool(true))])]),
    )]);
    let add = |d: &mut Document| d.insert_key(&path("a"), "m", &nested, &Position::End);
    edited(
        "a:\n    b:\n        c: 1\n",
        add,
        "a:\n    b:\n        c: 1\n    m:\n        x:\n        - 1\n        - z: true\n",
    );
    assert_eq!(
        refused(
            "Images: []\n",
            |d| d.insert_key(&Path::kustomization(), "images", &entry(), &Position::End),
            1
        ),
        Reason::KeyExists("images".into())
    );
}

#[test]
fn literal_blocks_are_written_as_blocks() {
    let patch = Value::map([("patch", Value::literal("a: 1\nb:\n  c: 2\n"))]);
    edited(
        "patches:\n- path: x\n",
        |d| d.append(&path("patches"), &patch),
        "patches:\n- path: x\n- patch: |\n    a: 1\n    b:\n      c: 2\n",
    );
}

#[test]
fn remove_takes_the_comments_that_belong() {
    removed("a:\n- x\n# y\n- y # z\n  # deeper\n- z\n", "a[1]", "a:\n- x\n- z\n");
    removed("a:\n# all\n- x\n- y\n", "a[0]", "a:\n# all\n- y\n");
    removed("a:\n- x\n\n- y\n\n- z\n", "a[1]", "a:\n- x\n\n- z\n");
    removed("a:\n- x\nb: 1\n", "a[0]", "b: 1\n");
    removed("a: [x, y, z]\n", "a[1]", "a: [x, z]\n");
    removed("a: [x, y]\n", "a[1]", "a: [x]\n");
    removed("{\n  \"a\": 1,\n  \"b\": 2\n}\n", "b", "{\n  \"a\": 1\n}\n");
    removed("a: 1\nb: 2", "b", "a: 1");
    removed("- newTag: v1 # c\n  name: a\n", "[0].newTag", "- name: a\n");
    removed("a:\n- n: 1\n  # why\n  t: 1\n  d: 2\n", "a[0].t", "a:\n- n: 1\n  # why\n  d: 2\n");
    removed("a: 1\n# b\nb: 2\n", "b", "a: 1\n");
    removed("a:\n  b: 1\n  c: |\n    x\n\n  d: 1\n", "a.c", "a:\n  b: 1\n\n  d: 1\n");
}

#[test]
fn remove_refuses_what_others_need() {
    let last = |d: &mut Document| d.remove(&path("a"));
    assert_eq!(refused("a: 1\n", last, 1), Reason::LastKey("a".into()));
    assert!(matches!(refused("a: &x 1\nb: *x\n", last, 1), Reason::Anchor { uses: 1, .. }));
    assert!(matches!(
        refused("{a: [x, # c\n  y], b: 1}\n", |d| d.remove(&path("a[0]")), 1),
        Reason::Comment(_)
    ));
    let nested = |d: &mut Document| d.remove(&path("[0][0]"));
    assert_eq!(refused("- - x\n  - y\n", nested, 1), Reason::NestedSequence);
    let flux = |d: &mut Document| d.remove(&path("b"));
    assert!(matches!(
        refused("a: 1\nb: v # {\"$imagepolicy\": \"a:b\"}\n", flux, 2),
        Reason::FluxSetter(_)
    ));
}

const PATCHES: &str = "patches:\n- patch: |-\n    # c\n    - op: replace\n      path: /a\n      value: 1\n  target: {kind: X}\n";

#[test]
fn an_inline_patch_changes_by_its_line() {
    edited(
        PATCHES,
        |d| d.edit_inline(&path("patches[0].patch"), |p| p.set(&path("[0].value"), &Value::Int(2))),
        &PATCHES.replace("value: 1", "value: 2"),
    );
    let op = Value::map([("op", Value::str("remove")), ("path", Value::str("/b"))]);
    edited(
        PATCHES,
        |d| d.edit_inline(&path("patches[0].patch"), |p| p.append(&Path::root(), &op)),
        &PATCHES.replace("value: 1\n", "value: 1\n    - op: remove\n      path: /b\n"),
    );
    edited(
        PATCHES,
        |d| d.edit_inline(&path("patches[0].patch"), |p| p.remove(&path("[0].value"))),
        &PATCHES.replace("      value: 1\n", ""),
    );
}

#[test]
fn inline_patches_of_every_style() {
    let inner = |d: &mut Document| d.edit_inline(&path("p"), |p| p.set(&path("a"), &Value::Int(2)));
    edited("p: |\r\n  # c\r\n  a: 1\r\n", inner, "p: |\r\n  # c\r\n  a: 2\r\n");
    edited("p: |2-\n    a: 1\n    b: 1\n", inner, "p: |2-\n    a: 2\n    b: 1\n");
}

#[test]
fn inline_patches_in_quotes_and_folds() {
    let inner = |d: &mut Document| d.edit_inline(&path("p"), |p| p.set(&path("a"), &Value::Int(2)));
    edited("p: \"b: \\\"x\\\"\\na: 1\\n\"\n", inner, "p: \"b: \\\"x\\\"\\na: 2\\n\"\n");
    edited("p: '{\"a\": 1}' # c\n", inner, "p: '{\"a\": 2}' # c\n");
    edited(
        "p: >- # c\n  {\"b\": 1,\n  \"a\": 1}\nq: 1\n",
        inner,
        "p: |- # c\n  {\"b\": 1, \"a\": 2}\nq: 1\n",
    );
    edited("p: >\n  a: 1\n\nq: 1\n", inner, "p: |\n  a: 2\n\nq: 1\n");
    edited(
        "p: |\n\n  a: 1\n",
        |d| {
            d.edit_inline(&path("p"), |p| {
                p.insert_key(&Path::root(), "b", &Value::Int(1), &Position::End)
            })
        },
        "p: |\n\n  a: 1\n  b: 1\n",
    );
    edited(
        "p: |+\n  a: 1\n\n",
        |d| {
            d.edit_inline(&path("p"), |p| {
                p.insert_key(&Path::root(), "b", &Value::Int(1), &Position::End)
            })
        },
        "p: |+\n  a: 1\n  b: 1\n\n",
    );
    edited(
        "p: |\n  a: 1",
        |d| {
            d.edit_inline(&path("p"), |p| {
                p.insert_key(&Path::root(), "b", &Value::Int(1), &Position::End)
            })
        },
        "p: |\n  a: 1\n  b: 1",
    );
}

#[test]
fn keys_of_a_kustomization_match_in_any_case() {
    let images = Path::kustomization().key("images");
    edited("Images: []\n", |d| d.append(&images, &Value::str("x")), "Images:\n- x\n");
    let both = |d: &mut Document| d.append(&images, &Value::str("x"));
    assert_eq!(
        refused("Images: []\nimages: []\n", both, 2),
        Reason::DuplicateKey { key: "images".into(), first: 1, second: 2 }
    );
    let exact = path("images");
    edited("Images: []\n", |d| d.append(&exact, &Value::str("x")), "Images: []\nimages:\n- x\n");
}

#[test]
fn shared_and_odd_values_are_refused() {
    let a = |d: &mut Document| d.set(&path("a"), &Value::str("x"));
    assert!(matches!(refused("b: &t v1\na: *t\n", a, 2), Reason::Alias(_)));
    assert!(matches!(refused("a: &t v1\nb: *t\n", a, 1), Reason::Anchor { uses: 1, .. }));
    assert!(matches!(refused("a: !!str v1\n", a, 1), Reason::Tag(_)));
    assert_eq!(refused("? a\n: b\n", a, 1), Reason::ExplicitKey);
    assert!(matches!(
        refused("a: 1\nb: 2\na: 3\n", a, 3),
        Reason::DuplicateKey { first: 1, second: 3, .. }
    ));
    assert!(matches!(refused("x: &m {a: 1}\n<<: *m\n", a, 2), Reason::MergeKey(_)));
    assert!(matches!(refused("a: [1]\n", a, 1), Reason::WrongKind { .. }));
    assert_eq!(refused("b: 1\n", a, 1), Reason::NotFound("a".into()));
    assert_eq!(
        refused("a: 1\n", |d| d.set(&path("a"), &Value::str("\u{7}")), 1),
        Reason::Unwritable
    );
    edited("a: &t v1\n", a, "a: &t x\n");
}

#[test]
fn files_that_are_no_text_are_refused() {
    let open = |bytes: &[u8]| Document::from_bytes("k", bytes).unwrap_err();
    assert_eq!(open(b"a: 1\nb: \xff\n").line, 2);
    assert_eq!(
        open(b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n").reason,
        Reason::LfsPointer
    );
    assert!(matches!(open("a: b\u{2028}c\n".as_bytes()).reason, Reason::ForeignLineBreak(0x2028)));
    assert!(matches!(open(b"a: [1\n").reason, Reason::Syntax(_)));
    assert!(matches!(open(&vec![b' '; 50 << 20]).reason, Reason::TooLarge { .. }));
    assert!(Document::from_bytes("k", "a: \"b\u{2028}c\"\n".as_bytes()).is_ok());
    let many = format!("- &a [{}]\n{}", "a,".repeat(1_000), "- *a\n".repeat(2_000));
    assert!(matches!(open(many.as_bytes()).reason, Reason::TooManyNodes { .. }));
}

#[test]
fn an_edit_after_which_the_file_is_not_editable_is_refused() {
    let text = "old: x\nversion https://git-lfs.github.com/spec/v1: y\n";
    let mut document = open(text);
    let refusal = document.remove(&path("old")).unwrap_err();
    assert!(matches!(refusal.reason, Reason::Verification(_)), "{refusal}");
    assert!(refusal.to_string().contains("Git LFS pointer"), "{refusal}");
    assert_eq!(document.text(), text);
}

#[test]
fn a_second_document_is_named() {
    let single = |text: &str| open(text).require_single_document();
    assert!(single("# c\n---\na: 1\n---\n").is_ok());
    assert_eq!(single("a: 1\n---\nb: 1\n").unwrap_err().line, 3);
    assert_eq!(single("---\n---\nb: 1\n").unwrap_err().line, 3);
}

#[test]
fn many_edits_compose() {
    let old = "images:\n- name: a\n  newTag: v1\n- name: b # c\n  newTag: v1\n";
    let mut document = open(old);
    for name in ["a", "b"] {
        let path = Path::kustomization().key("images").item("name", name);
        document
            .rename_and_set(&path.clone().key("newTag"), "digest", &Value::str("sha256:1"))
            .unwrap();
        document
            .set_key(&path, "newName", &Value::str("m"), &Position::After("name".into()))
            .unwrap();
    }
    document.append(&path("images"), &entry()).unwrap();
    let new = "images:\n- name: a\n  newName: m\n  digest: sha256:1\n- name: b # c\n  newName: m\n  digest: sha256:1\n- name: app\n  digest: sha256:00\n";
    assert_eq!(document.text(), new);
    assert_eq!(crate::edit::apply_edits(old, &document.edits()).unwrap(), new);
}

#[test]
fn located_values_tell_their_flux_setter() {
    let document = open("a: v1 # {\"$imagepolicy\": \"ns:a:tag\"}\nb: 1 # {x}\n");
    let a = document.locate(&path("a")).unwrap().unwrap();
    assert_eq!((a.line, a.flux_setter()), (1, Some("{\"$imagepolicy\": \"ns:a:tag\"}")));
    assert_eq!(document.locate(&path("b")).unwrap().unwrap().flux_setter(), None);
    assert_eq!(document.locate(&path("c")).unwrap(), None);
}

#[test]
fn a_lone_carriage_return_behind_a_block_indicator_is_no_panic() {
    for text in [">\r\u{e1861}", "a: >\r\u{e1861}\n", "- |\r  x\n"] {
        let Ok(mut document) = Document::from_bytes("k.yaml", text.as_bytes()) else { continue };
        let roots = document.tree().unwrap().roots().to_vec();
        assert_eq!(roots.len(), 1);
        for path in [Path::root(), path("a"), Path::root().index(0)] {
            if document.set(&path, &Value::str("v2")).is_err() {
                assert_eq!(document.text(), text);
            }
        }
    }
}
