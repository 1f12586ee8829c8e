//! Patches and components that an Application states: Argo CD puts them behind those of the overlay, so that what they say of a field
//! wins over it. What they do is rendered, not guessed.
//!
//! Source: argo-cd `util/kustomize/kustomize.go` (`Build`).

use serde_json::Value as Json;

use crate::argocd::Override;
use crate::error::Error;
use crate::git::{ObjectId, Repository};
use crate::kustomize::{EditedFiles, Files, Rendered};
use crate::ops::Context;
use crate::ops::revision::find_kustomization;
use crate::plan::layer;
use crate::report::change::OverlayReport;
use crate::verify::{FieldChange, node_to_json};
use crate::write::NewText;
use crate::yaml::YamlError;

/// The fields of `kustomize` whose items are put behind those of the overlay.
const APPENDED: [&str; 2] = ["patches", "components"];

/// Whether it is a statement whose effect is rendered.
pub(super) fn is_appended(statement: &Override) -> bool {
    APPENDED.contains(&statement.field.as_str())
}

/// What an edit makes of the base branch.
pub(super) struct Edited<'a> {
    pub(super) context: &'a Context,
    pub(super) repository: &'a Repository,
    pub(super) tip: ObjectId,
    pub(super) texts: &'a [NewText],
}

/// What becomes of an edit under statements of the Application.
pub(super) enum Outcome {
    /// All that it changes comes through.
    Through,
    /// This field comes out otherwise.
    Lost(String),
    /// It cannot be told, for this reason.
    Unknown(String),
}

impl Edited<'_> {
    /// What becomes of the edit of `overlay`, in `directory`, under `statements`.
    ///
    /// # Errors
    /// Where the base branch cannot be read.
    pub(super) fn under(
        &self,
        statements: &[&Override],
        directory: &str,
        overlay: &OverlayReport,
    ) -> Result<Outcome, Error> {
        let of_it: Vec<&Override> =
            statements.iter().copied().filter(|one| is_appended(one)).collect();
        if of_it.is_empty() || overlay.effect.changes.is_empty() {
            return Ok(Outcome::Through);
        }
        let Some(texts) = self.new_texts() else {
            return Ok(Outcome::Unknown("files go".to_owned()));
        };
        let files = self.repository.files_of(self.tip)?;
        let Some(name) = find_kustomization(&files, directory)? else {
            return Ok(Outcome::Unknown(format!("{directory} has no kustomization")));
        };
        let path = format!("{directory}/{name}").trim_start_matches('/').to_owned();
        let plain = match self.render(&files, directory, &texts) {
            Ok(rendered) => rendered,
            Err(error) => return Ok(Outcome::Unknown(error.to_string())),
        };
        let old = files.read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())?;
        let edited = texts.iter().find(|(edited, _)| *edited == path);
        let text = match with_statements(edited.map_or(&*old, |(_, text)| text), &of_it) {
            Ok(text) => text,
            Err(error) => return Ok(Outcome::Unknown(error.to_string())),
        };
        let mut stated = texts.clone();
        stated.retain(|(edited, _)| *edited != path);
        stated.push((path, text));
        Ok(match self.render(&files, directory, &stated) {
            Ok(rendered) => lost(&overlay.effect.changes, &plain, &rendered),
            Err(error) => Outcome::Unknown(error.to_string()),
        })
    }

    /// The new texts; none where a file goes, which no text can stand for.
    fn new_texts(&self) -> Option<Vec<(String, String)>> {
        let text = |text: &NewText| {
            let after = String::from_utf8(text.after.clone()?).ok()?;
            Some((text.path.clone(), after))
        };
        self.texts.iter().map(text).collect()
    }

    fn render(
        &self,
        files: &dyn Files,
        directory: &str,
        texts: &[(String, String)],
    ) -> Result<Rendered, Error> {
        let context = self.context.with_own_remotes();
        let tree = context.load(&EditedFiles::new(files, texts), directory)?;
        Ok(context.render_unprinted(&tree, directory)?.rendered)
    }
}

/// The first change that comes out otherwise.
fn lost(changes: &[FieldChange], plain: &Rendered, stated: &Rendered) -> Outcome {
    let value = |rendered: &Rendered, change: &FieldChange| {
        let mut all = rendered.resources.iter();
        let resource = all.find(|resource| resource.current_id() == change.resource)?;
        change.path.find(&resource.node).map(node_to_json)
    };
    for change in changes {
        let [after, now] = [plain, stated].map(|rendered| value(rendered, change));
        if let Some(path) = lost_below(change.before.as_ref(), after.as_ref(), now.as_ref()) {
            let (kind, name) = (&change.resource.kind, &change.resource.name);
            return Outcome::Lost(format!("{}{path} of {kind}/{name}", change.path));
        }
    }
    Outcome::Through
}

/// Where below a field `now` lacks what leads from `before` to `after`; what others say beside that is none of it.
fn lost_below(before: Option<&Json>, after: Option<&Json>, now: Option<&Json>) -> Option<String> {
    if before == after || after == now {
        return None;
    }
    let (Some(Json::Object(wanted)), Some(Json::Object(found))) = (after, now) else {
        return Some(String::new());
    };
    let old = before.and_then(Json::as_object);
    let gone = old.into_iter().flat_map(|old| old.keys()).filter(|key| !wanted.contains_key(*key));
    gone.chain(wanted.keys()).find_map(|key| {
        let before = old.and_then(|old| old.get(key));
        let below = lost_below(before, wanted.get(key), found.get(key))?;
        Some(format!(".{key}{below}"))
    })
}

/// The kustomization `text` with the statements behind its own.
fn with_statements(text: &str, statements: &[&Override]) -> Result<String, YamlError> {
    let mut text = text.to_owned();
    for field in APPENDED {
        let of_it = statements.iter().filter(|one| one.field == field);
        text = layer::with_items(&text, field, of_it.map(|one| one.value.clone()).collect())?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_said_beside_a_change_is_no_loss() {
        let lost = |before: Json, after: Json, now: Json| {
            lost_below(Some(&before), Some(&after), Some(&now)).unwrap_or("through".to_owned())
        };
        let (one, two) = (json!({"a": 1}), json!({"a": 2}));
        assert_eq!(lost(one.clone(), two.clone(), two.clone()), "through");
        assert_eq!(lost(one.clone(), two.clone(), json!({"a": 2, "b": 5})), "through");
        assert_eq!(
            lost(json!({"a": 1, "b": 3}), json!({"a": 2, "b": 3}), json!({"a": 2, "b": 4})),
            "through"
        );
        assert_eq!(lost(one.clone(), two, json!({"a": 9})), ".a");
        assert_eq!(lost(json!({"a": 1, "b": 1}), one.clone(), json!({"a": 1, "b": 1})), ".b");
        assert_eq!(lost(one, json!({"a": {"c": 1}}), json!({"a": {"c": 2}})), ".a.c");
        assert_eq!(lost_below(None, Some(&json!(1)), None), Some(String::new()));
        assert_eq!(lost_below(Some(&json!(1)), None, Some(&json!(1))), Some(String::new()));
    }
}
