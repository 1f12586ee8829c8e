//! Comments of a text of YAML: taken off its lines, and put back behind or above them.

/// The comments of one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Comments {
    /// On lines of their own, directly above.
    above: Vec<String>,
    /// Behind, on the same line.
    behind: Option<String>,
}

impl Comments {
    pub(super) fn is_empty(&self) -> bool {
        self.above.is_empty() && self.behind.is_none()
    }

    /// Writes a line with its comments, without a final line break; `None` where nothing can stand
    /// behind the line any more.
    pub(super) fn write(&self, line: &str, out: &mut String) -> Option<()> {
        let indent = line.len() - line.trim_start_matches(' ').len();
        for comment in &self.above {
            out.push_str(&line[..indent]);
            out.push_str(comment);
            out.push('\n');
        }
        out.push_str(line);
        if let Some(comment) = &self.behind {
            if is_open(line) {
                return None;
            }
            out.push(' ');
            out.push_str(comment);
        }
        Some(())
    }
}

/// Whether the value of a line stands on the lines below it.
fn is_open(line: &str) -> bool {
    line.ends_with([':', '-']) || block_header(line).is_some()
}

/// The text without its comments, and the comments of each of its lines; `None` for comments, and
/// empty lines, whose place go-yaml decides in other ways than by the line they are on.
pub(super) fn split(text: &str) -> Option<(String, Vec<Comments>)> {
    let (mut bare, mut all) = (String::new(), Vec::new());
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut block: Option<usize> = None;
    for line in text.lines() {
        let content = line.trim_start_matches(' ');
        let indent = line.len() - content.len();
        if block.is_some_and(|outer| indent > outer || content.is_empty()) {
            push(&mut bare, &mut all, line, Comments::default());
            continue;
        }
        if content.is_empty() {
            return None;
        }
        if content.starts_with('#') {
            above.push((indent, content.trim_end().to_owned()));
            continue;
        }
        if above.iter().any(|(column, _)| *column != indent) {
            return None;
        }
        let (code, behind) = cut(line);
        if behind.is_some() && is_open(code) {
            return None;
        }
        block = block_header(code).map(|()| last_column(code));
        let above = above.drain(..).map(|(_, comment)| comment).collect();
        push(&mut bare, &mut all, code, Comments { above, behind: behind.map(str::to_owned) });
    }
    above.is_empty().then_some((bare, all))
}

fn push(bare: &mut String, all: &mut Vec<Comments>, line: &str, comments: Comments) {
    bare.push_str(line);
    bare.push('\n');
    all.push(comments);
}

/// Whether a block of text begins behind this line.
fn block_header(line: &str) -> Option<()> {
    let header = line.rsplit(' ').next()?;
    (header.starts_with(['|', '>']) && header.len() <= 3).then_some(())
}

/// The column of the last key or item that begins on a line.
fn last_column(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '-']).len()
}

/// A line and the comment behind it.
fn cut(line: &str) -> (&str, Option<&str>) {
    let mut quote: Option<char> = None;
    let (mut before, mut escaped) = (' ', false);
    for (at, c) in line.char_indices() {
        match quote {
            Some('"') if escaped => escaped = false,
            Some('"') if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '#' && before == ' ' => {
                return (line[..at].trim_end(), Some(line[at..].trim_end()));
            }
            None if matches!(c, '"' | '\'') && matches!(before, ' ' | '[' | '{' | ',') => {
                quote = Some(c);
            }
            None => {}
        }
        before = c;
    }
    (line.trim_end(), None)
}
