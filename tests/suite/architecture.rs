//! The table "Who may import whom" of ARCHITECTURE.md holds for every file in `src`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn table() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string("ARCHITECTURE.md").unwrap();
    text.lines()
        .skip_while(|line| !line.starts_with("| module | layer | may import |"))
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let imports = cells[2].split(',').map(|m| m.trim().to_owned());
            (cells[0].trim_matches('`').to_owned(), imports.filter(|m| !m.is_empty()).collect())
        })
        .collect()
}

fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

fn module_of(path: &Path) -> String {
    let first = path.strip_prefix("src").unwrap().iter().next().unwrap();
    first.to_string_lossy().trim_end_matches(".rs").to_owned()
}

/// Every `crate::NAME` and every name of a `use crate::{…}` list, comments left out.
fn imports(text: &str) -> BTreeSet<String> {
    let code: String = text
        .lines()
        .map(|l| l.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let name = |s: &str| -> String {
        s.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let mut depth = 0usize;
            let mut start = 0usize;
            for (i, c) in list.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => {
                        found.insert(name(&list[start..i]));
                        break;
                    }
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        found.insert(name(&list[start..i]));
                        start = i + 1;
                    }
                    _ => {}
                }
            }
        } else {
            found.insert(name(rest));
        }
    }
    found.remove("");
    found
}

#[test]
fn modules_import_only_what_the_table_allows() {
    let table = table();
    let mut files = Vec::new();
    sources(Path::new("src"), &mut files);
    let mut wrong = Vec::new();
    for file in files {
        let module = module_of(&file);
        if module == "main" || module == "lib" {
            continue;
        }
        let Some(allowed) = table.get(&module) else {
            wrong.push(format!("{}: module `{module}` is not in the table", file.display()));
            continue;
        };
        for import in imports(&fs::read_to_string(&file).unwrap()) {
            if table.contains_key(&import) && import != module && !allowed.contains(&import) {
                wrong.push(format!("{}: `{module}` may not import `{import}`", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_table_points_down() {
    let table = table();
    fn reaches(t: &BTreeMap<String, BTreeSet<String>>, from: &str, to: &str, depth: usize) -> bool {
        depth > 0 && t[from].iter().any(|m| m == to || reaches(t, m, to, depth - 1))
    }
    for module in table.keys() {
        assert!(!reaches(&table, module, module, table.len()), "{module} reaches itself");
    }
    assert!(!reaches(&table, "verify", "plan", table.len()), "the judge must not know the plan");
}
