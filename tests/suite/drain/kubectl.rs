//! The commands of a plan, read as a shell and kubectl read them.

/// What a command asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Cordon(Vec<String>),
    Uncordon(Vec<String>),
    Drain {
        node: String,
        selector: Selector,
    },
    Delete {
        namespace: String,
        pods: Vec<String>,
    },
    /// Namespace, kind in lower case, name, how many.
    Wait(String, String, String, usize),
    /// Namespace, which pods, how many.
    WaitPods(String, Selector, usize),
    /// `overlay set replicas|instances`: kind (none for instances), name, number.
    Set(Option<String>, String, usize),
    /// Looks at something.
    Look,
}

/// A label selector: requirements that all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selector(Vec<(String, bool, Vec<String>)>);

impl Selector {
    pub(crate) fn parse(text: &str) -> Self {
        let mut parts: Vec<String> = vec![String::new()];
        let mut depth = 0;
        for c in text.chars() {
            match c {
                ',' if depth == 0 => parts.push(String::new()),
                _ => {
                    depth += i32::from(c == '(') - i32::from(c == ')');
                    parts.last_mut().unwrap().push(c);
                }
            }
        }
        let list = |text: &str| -> Vec<String> {
            let inner = text.trim().trim_start_matches('(').trim_end_matches(')');
            inner.split(',').map(|value| value.trim().to_owned()).collect()
        };
        let requirement = |part: &String| {
            for (sign, is_in) in [("!=", false), ("=", true), (" notin ", false), (" in ", true)] {
                if let Some((key, values)) = part.split_once(sign) {
                    return (key.trim().to_owned(), is_in, list(values));
                }
            }
            panic!("selector {part}")
        };
        Self(parts.iter().filter(|part| !part.is_empty()).map(requirement).collect())
    }

    pub(crate) fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.0.iter().all(|(key, is_in, values)| {
            let is_listed = label(key).is_some_and(|value| values.iter().any(|v| v == value));
            is_listed == *is_in
        })
    }
}

/// Words as `sh` splits them, single quotes only.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut started) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (quoted, started) = (!quoted, true),
            ' ' if !quoted => {
                if started {
                    words.push(std::mem::take(&mut word));
                }
                started = false;
            }
            _ => {
                word.push(c);
                started = true;
            }
        }
    }
    words.extend(started.then_some(word));
    words
}

pub(crate) fn parse(line: &str) -> Command {
    let words = words(line);
    let all: Vec<&str> = words.iter().map(String::as_str).collect();
    let option = |name: &str| {
        let at = all.iter().position(|word| *word == name);
        at.map(|at| all[at + 1].to_owned()).unwrap_or_default()
    };
    let flag = |name: &str| all.iter().find_map(|word| word.strip_prefix(name));
    let owned = |words: &[&str]| -> Vec<String> { words.iter().map(|w| (*w).to_owned()).collect() };
    match all.as_slice() {
        ["kubectl", "cordon", nodes @ ..] => Command::Cordon(owned(nodes)),
        ["kubectl", "uncordon", nodes @ ..] => Command::Uncordon(owned(nodes)),
        ["kubectl", "drain", node, "--ignore-daemonsets", "--delete-emptydir-data", ..] => {
            assert!(flag("--timeout=").is_some(), "a drain without an end: {line}");
            let selector = Selector::parse(flag("--pod-selector=").unwrap_or_default());
            Command::Drain { node: (*node).to_owned(), selector }
        }
        ["kubectl", "delete", "pod", "-n", namespace, pods @ ..] => {
            assert!(!line.contains("--force") && !line.contains("--grace-period"), "{line}");
            let pods: Vec<&str> = pods.iter().copied().filter(|p| !p.starts_with("--")).collect();
            Command::Delete { namespace: (*namespace).to_owned(), pods: owned(&pods) }
        }
        ["kubectl", "wait", ..] => {
            let namespace = option("-n");
            let rest = flag("--for=jsonpath={.status.").unwrap_or_else(|| panic!("{line}"));
            let ready = rest.split_once("}=").unwrap().1.parse().unwrap();
            let target = all.iter().find(|word| word.contains('/')).unwrap();
            let (kind, name) = target.split_once('/').unwrap();
            let kind = kind.split('.').next().unwrap().to_owned();
            Command::Wait(namespace, kind, name.to_owned(), ready)
        }
        ["timeout", _, "sh", "-c", script, "wait", namespace, selector, count] => {
            assert!(script.starts_with("until [ ") && script.ends_with("; do sleep 2; done"));
            let (namespace, count) = ((*namespace).to_owned(), count.parse().unwrap());
            Command::WaitPods(namespace, Selector::parse(selector), count)
        }
        ["overlay", "set", what @ ("replicas" | "instances"), _, change, "--pr"] => {
            let (name, number) = change.split_once('=').unwrap();
            let (kind, name) = match name.split_once('/') {
                Some((kind, name)) => (Some(kind.to_ascii_lowercase()), name),
                None => (None, name),
            };
            assert_eq!(kind.is_none(), *what == "instances", "{line}");
            Command::Set(kind, name.to_owned(), number.parse().unwrap())
        }
        ["kubectl", "get", ..] => Command::Look,
        ["kubectl", "delete", "node", ..] => Command::Look,
        _ => panic!("a command that nobody knows: {line}"),
    }
}
