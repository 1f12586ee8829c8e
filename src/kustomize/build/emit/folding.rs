//! What becomes of a folded text (`>`) that go-yaml version 3 writes folded and reads again: it
//! doubles line breaks that it need not, and those before indented lines stay.
//!
//! Source: go.yaml.in/yaml v3.0.3 `emitterc.go` (`yaml_emitter_write_folded_scalar`), `scannerc.go`
//! (`yaml_parser_scan_block_scalar`).

/// The text after it was written folded and read again.
pub(super) fn refold(text: &str) -> String {
    read(&write(text), Chomping::of(text))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

impl Chomping {
    /// What the writer asks for.
    fn of(text: &str) -> Self {
        match text.strip_suffix('\n') {
            None => Self::Strip,
            Some(rest) if rest.is_empty() || rest.ends_with('\n') => Self::Keep,
            Some(_) => Self::Clip,
        }
    }
}

/// The lines that are written, without their indentation.
fn write(text: &str) -> String {
    let first = text.trim_start_matches('\n').chars().next();
    // The writer looks at the start of the text instead of behind the break.
    let doubles = !matches!(first, None | Some(' ' | '\t'));
    let (mut after_break, mut indented) = (true, true);
    let mut out = String::with_capacity(text.len() * 2);
    for c in text.chars() {
        if c == '\n' {
            if !after_break && !indented && doubles {
                out.push('\n');
            }
            out.push('\n');
            after_break = true;
        } else {
            if after_break {
                indented = matches!(c, ' ' | '\t');
            }
            out.push(c);
            after_break = false;
        }
    }
    out
}

/// The text that the lines are read as.
fn read(written: &str, chomping: Chomping) -> String {
    let mut text = String::with_capacity(written.len());
    let mut lines = written.split_inclusive('\n').peekable();
    let mut breaks = leading_breaks(&mut lines);
    let (mut line_break, mut after_indented) = (false, false);
    while let Some(line) = lines.next() {
        let content = line.strip_suffix('\n');
        let indented = line.starts_with([' ', '\t']);
        if line_break && !after_indented && !indented {
            if breaks == 0 {
                text.push(' ');
            }
        } else if line_break {
            text.push('\n');
        }
        (0..breaks).for_each(|_| text.push('\n'));
        text.push_str(content.unwrap_or(line));
        line_break = content.is_some();
        after_indented = indented;
        breaks = leading_breaks(&mut lines);
    }
    if line_break && chomping != Chomping::Strip {
        text.push('\n');
    }
    if chomping == Chomping::Keep {
        (0..breaks).for_each(|_| text.push('\n'));
    }
    text
}

fn leading_breaks<'t>(lines: &mut std::iter::Peekable<impl Iterator<Item = &'t str>>) -> usize {
    let mut count = 0;
    while lines.next_if_eq(&"\n").is_some() {
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What kustomize 5.8.1 prints for values written with `>`, `>-` and `>+`.
    #[test]
    fn breaks_before_indented_lines_are_doubled() {
        assert_eq!(refold("one two\nthree\n"), "one two\nthree\n");
        assert_eq!(refold("one\n  indented\ntwo"), "one\n\n  indented\ntwo");
        assert_eq!(refold("one\n\n"), "one\n\n\n");
        assert_eq!(refold("one"), "one");
    }
}
