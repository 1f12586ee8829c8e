//! Numbers that stand in no overlay: in a Helm values file, a chart's template, or an Argo CD
//! Application. They are not edited; the refusal says where they are.

use super::Context;
use crate::change::Change;
use crate::discover::{DiskFiles, find_manifests};
use crate::error::{Error, Location, codes};
use crate::kustomize::ResourceName;

/// A number and where it stands.
#[derive(Debug, PartialEq, Eq)]
struct Address {
    file: String,
    line: usize,
    what: String,
}

/// `error` with the address of the number that `change` asks for, where the repository holds it
/// outside of overlays.
pub(super) fn with_address(
    context: &Context,
    overlays: &[std::ffi::OsString],
    change: &Change,
    error: Error,
) -> Error {
    let (names, field) = match change {
        Change::SetReplicas(change) => {
            (change.named.iter().map(|(name, _)| name).collect::<Vec<_>>(), "replicas")
        }
        Change::SetInstances(change) => {
            (change.named.iter().map(|(name, _)| name).collect(), "instances")
        }
        _ => return error,
    };
    if error.code() != codes::NO_SUCH_WORKLOAD {
        return error;
    }
    let Ok((files, _)) = context.locate(overlays) else { return error };
    let found = names.into_iter().find_map(|name| Some((name, find(&files, name, field)?)));
    let Some((name, address)) = found else { return error };
    let message = format!("the number of {} is {}", name.name, address.what);
    let elsewhere = Error::new(codes::DECIDED_ELSEWHERE, message);
    elsewhere
        .at(Location { file: address.file, line: Some(address.line), column: None })
        .hint("it is no part of an overlay; edit it there")
}

fn find(files: &DiskFiles, name: &ResourceName, field: &str) -> Option<Address> {
    let applications = find_manifests(files.root(), "kind: Application");
    let by_application =
        applications.iter().find_map(|(file, text)| in_application(file, text, &name.name, field));
    by_application.or_else(|| {
        let templates = find_manifests(files.root(), &name.name);
        templates.iter().filter(|(file, _)| file.contains("/templates/")).find_map(
            |(file, text)| in_template(files, &applications, file, text, &name.name, field),
        )
    })
}

/// `kustomize.replicas` of an Application: a name and, on a line near it, a count.
fn in_application(file: &str, text: &str, name: &str, field: &str) -> Option<Address> {
    if field != "replicas" || !text.contains("kustomize:") {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| says(line, "name", name) && line.contains("name:"))?;
    let near = at.saturating_sub(1)..(at + 2).min(lines.len());
    let line = near.into_iter().find(|i| lines[*i].contains("count:"))?;
    let what = "an override of an Argo CD Application (spec.source.kustomize.replicas)".to_owned();
    Some(Address { file: file.to_owned(), line: line + 1, what })
}

fn in_template(
    files: &DiskFiles,
    applications: &[(String, String)],
    file: &str,
    text: &str,
    name: &str,
    field: &str,
) -> Option<Address> {
    let lines: Vec<&str> = text.lines().collect();
    let named = lines.iter().position(|line| says(line, "name", name))?;
    let is_break = |line: &&&str| line.starts_with("---");
    let end =
        lines[named..].iter().position(|line| is_break(&line)).map_or(lines.len(), |n| named + n);
    let at = (named..end).find(|i| value_of(lines[*i], field).is_some())?;
    let value = value_of(lines[at], field)?;
    let Some(path) = value.split(".Values.").nth(1) else {
        let what = format!("`{field}: {value}`, written in the template of a chart");
        return Some(Address { file: file.to_owned(), line: at + 1, what });
    };
    let path: String =
        path.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '.' | '_')).collect();
    let chart = file.split("/templates/").next()?;
    in_parameters(applications, chart, &path).or_else(|| in_values(files, chart, &path))
}

/// A Helm parameter of the Application that installs the chart.
fn in_parameters(applications: &[(String, String)], chart: &str, path: &str) -> Option<Address> {
    applications.iter().find_map(|(file, text)| {
        let installs = text.lines().any(|line| says(line, "path", chart));
        let at = text.lines().position(|line| says(line, "name", path))?;
        let what = format!("the Helm parameter `{path}` of an Argo CD Application");
        installs.then(|| Address { file: file.clone(), line: at + 1, what })
    })
}

/// The value in the chart's values file.
fn in_values(files: &DiskFiles, chart: &str, path: &str) -> Option<Address> {
    let key = path.rsplit('.').next()?;
    let wanted = format!("{chart}/values.yaml");
    let (file, text) = find_manifests(files.root(), key).into_iter().find(|(f, _)| *f == wanted)?;
    let mut lines = text.lines();
    let at = lines.position(|line| value_of(line, key).is_some())?;
    let what = format!("the Helm value `{path}` of the chart {chart}");
    Some(Address { file, line: at + 1, what })
}

/// Whether a line says `key: value`, alone or within braces, quoted or not.
fn says(line: &str, key: &str, value: &str) -> bool {
    line.split(['{', ',', '}']).any(|part| value_of(part, key) == Some(value))
}

/// The value of `key:` on a line, without quotes and comment.
fn value_of<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let text = line.trim().trim_start_matches("- ").trim_start();
    let rest = text.strip_prefix(key)?.strip_prefix(':')?;
    let rest = rest.split(" #").next().unwrap_or_default().trim();
    (!rest.is_empty()).then(|| rest.trim_matches(['"', '\'']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_a_value() {
        assert!(says("  name: db", "name", "db"));
        assert!(says("  - {name: \"db\", value: fast}", "name", "db"));
        assert!(!says("  name: db-2", "name", "db"));
        assert_eq!(
            value_of("instances: {{ .Values.a.b }}", "instances"),
            Some("{{ .Values.a.b }}")
        );
        assert_eq!(value_of("instances: 1 # two", "instances"), Some("1"));
        assert_eq!(value_of("instances:", "instances"), None);
    }
}
