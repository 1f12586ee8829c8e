//! A field as it is written, in parts.

use super::FieldQueryError;

/// The parts between dots; brackets keep theirs, and `a[0]` is two parts.
pub(super) fn split(query: &str) -> Result<Vec<String>, FieldQueryError> {
    let malformed = || FieldQueryError::Malformed { field: query.to_owned() };
    let mut parts: Vec<String> = Vec::new();
    let mut part = String::new();
    let mut after_bracket = true;
    let mut chars = query.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => part.push(chars.next().ok_or_else(malformed)?),
            '.' if part.is_empty() && !after_bracket => return Err(malformed()),
            '.' => {
                push_part(&mut parts, &mut part);
                after_bracket = parts.is_empty();
                if parts.is_empty() {
                    return Err(malformed());
                }
                continue;
            }
            '[' => {
                push_part(&mut parts, &mut part);
                let inner = bracketed(&mut chars).filter(|inner| !inner.is_empty());
                let inner = inner.ok_or_else(malformed)?;
                parts.push(format!("[{inner}]"));
                after_bracket = true;
                continue;
            }
            _ => part.push(c),
        }
        after_bracket = false;
    }
    let ends_in_dot = query.ends_with('.') && !query.ends_with("\\.");
    push_part(&mut parts, &mut part);
    match ends_in_dot {
        true => Err(malformed()),
        false => Ok(parts),
    }
}

/// What stands before the next `]`, of which `\]` and `\\` are no ends; `None` where there is none.
fn bracketed(chars: &mut std::str::Chars<'_>) -> Option<String> {
    let mut inner = String::new();
    loop {
        match chars.next()? {
            ']' => return Some(inner),
            '\\' if chars.as_str().starts_with([']', '\\']) => inner.extend(chars.next()),
            c => inner.push(c),
        }
    }
}

fn push_part(parts: &mut Vec<String>, part: &mut String) {
    if !part.is_empty() {
        parts.push(std::mem::take(part));
    }
}
