//! Any text as a reference, a key, a value, an entry's name: no panic, and what is read is written back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use overlay::change::{Key, PinValue, parse_digests};
use overlay::image::{Digest, Pattern, Reference, Split, normalize_name};

fuzz_target!(|input: (String, String)| {
    let (text, other) = input;
    if let Ok(reference) = Reference::parse(&text) {
        assert_eq!(reference.to_string(), text);
        let split = Split::parse(&text);
        assert_eq!(split.name, reference.name());
        assert_eq!(split.tag, reference.tag().unwrap_or_default());
        assert_eq!(split.digest, reference.digest().map_or("", Digest::as_str));
        let name = normalize_name(reference.name());
        assert_eq!(normalize_name(&name), name);
    }
    let split = Split::parse(&text);
    let mut joined = split.name.to_owned();
    if text[joined.len()..].starts_with(':') {
        joined = joined + ":" + split.tag;
    }
    if text[joined.len()..].starts_with('@') {
        joined = joined + "@" + split.digest;
    }
    assert_eq!(joined, text);
    if let Ok(value) = PinValue::parse(&text) {
        assert!(Digest::parse(value.digest.as_str()).is_ok());
    }
    let key = Key::parse(&text);
    assert_eq!(key.tag().map_or_else(|| key.name().to_owned(), |tag| format!("{}:{tag}", key.name())), text);
    if let Ok(pattern) = Pattern::new(&text) {
        pattern.is_match(&other);
    }
    let _ = parse_digests(&other);
});
