//! The lock file of images: what each reference stood for when a registry was asked, so that an edit repeats without network.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{DigestResolver, MediaType, Platform, RegistryError, Resolved, Step, Wanted};
use crate::image::{Digest, Reference, normalize_name};
use crate::json::JsonProblem;

/// The form that is written.
const VERSION: u64 = 1;

/// One image of a lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedImage {
    /// What was asked for: a name and a tag.
    pub reference: Reference,
    /// What it stood for.
    pub digest: Digest,
    /// The kind of its manifest.
    pub media_type: MediaType,
    /// The platforms that it had.
    pub platforms: Vec<Platform>,
    /// When, as RFC 3339 writes it.
    pub resolved_at: String,
}

/// Why a lock file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct LockFileError {
    /// One phrase.
    pub why: String,
    /// The line, from 1, where it is known.
    pub line: Option<usize>,
    /// The column, from 1, where it is known.
    pub column: Option<usize>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    schema_version: u64,
    images: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    reference: String,
    digest: String,
    media_type: String,
    platforms: Vec<String>,
    resolved_at: String,
}

/// The text of a lock file: JSON, one image after the other in the order of their references, a newline at its end.
pub fn to_lock_text(images: &[LockedImage]) -> String {
    let mut entries: Vec<Entry> = images.iter().map(LockedImage::to_entry).collect();
    entries.sort_by(|a, b| a.reference.cmp(&b.reference));
    let file = File { schema_version: VERSION, images: entries };
    // A struct of texts and a number always has a JSON form.
    let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
    text.push('\n');
    text
}

impl LockedImage {
    fn to_entry(&self) -> Entry {
        Entry {
            reference: self.reference.to_string(),
            digest: self.digest.to_string(),
            media_type: self.media_type.name().to_owned(),
            platforms: self.platforms.iter().map(ToString::to_string).collect(),
            resolved_at: self.resolved_at.clone(),
        }
    }

    /// Whether it says the same, whenever it was asked.
    pub fn is_same(&self, other: &Self) -> bool {
        let at = other.resolved_at.clone();
        Self { resolved_at: at, ..self.clone() } == *other
    }
}

/// A lock file as a [`DigestResolver`]: what it does not hold is an error, and nothing is asked.
#[derive(Clone, Debug)]
pub struct LockedDigests {
    file: String,
    images: BTreeMap<String, LockedImage>,
}

impl LockedDigests {
    /// Reads the text of a lock file called `file`.
    ///
    /// # Errors
    /// [`LockFileError`] for broken JSON, another version, a reference without a tag or one that stands twice.
    pub fn parse(file: &str, text: &str) -> Result<Self, LockFileError> {
        let read: File = serde_json::from_str(text).map_err(|error| {
            let JsonProblem { line, column, reason } = (&error).into();
            LockFileError { why: reason, line: Some(line), column: Some(column) }
        })?;
        let wrong = |why: String| LockFileError { why, line: None, column: None };
        if read.schema_version != VERSION {
            let found = read.schema_version;
            return Err(wrong(format!("schemaVersion {found} is not the {VERSION} that is known")));
        }
        let mut images = BTreeMap::new();
        for entry in &read.images {
            let image =
                entry.to_image().map_err(|why| wrong(format!("{}: {why}", entry.reference)))?;
            if images.insert(key(&image.reference), image).is_some() {
                return Err(wrong(format!("{} stands twice", entry.reference)));
            }
        }
        Ok(Self { file: file.to_owned(), images })
    }

    /// Its images, in the order of their names.
    pub fn images(&self) -> impl Iterator<Item = &LockedImage> {
        self.images.values()
    }
}

impl Entry {
    fn to_image(&self) -> Result<LockedImage, String> {
        let reference = Reference::parse(&self.reference).map_err(|error| error.to_string())?;
        if reference.tag().is_none() || reference.digest().is_some() {
            return Err("not a name with a tag".to_owned());
        }
        let platforms = self.platforms.iter().map(|text| text.parse::<Platform>());
        Ok(LockedImage {
            reference,
            digest: Digest::parse(&self.digest).map_err(|error| error.to_string())?,
            media_type: MediaType::find(&self.media_type)
                .ok_or_else(|| format!("`{}` is no kind of manifest", self.media_type))?,
            platforms: platforms.collect::<Result<_, _>>().map_err(|error| error.to_string())?,
            resolved_at: self.resolved_at.clone(),
        })
    }
}

/// One key for all spellings of a name; no tag is `latest`.
fn key(reference: &Reference) -> String {
    format!("{}:{}", normalize_name(reference.name()), reference.tag().unwrap_or("latest"))
}

impl DigestResolver for LockedDigests {
    fn resolve(&self, wanted: &[Wanted], _: Step<'_>) -> Vec<Result<Resolved, RegistryError>> {
        let find = |wanted: &Wanted| {
            let reference = wanted.reference.clone();
            let Some(image) = self.images.get(&key(&reference)) else {
                let (reference, file) = (reference.to_string(), self.file.clone());
                return Err(RegistryError::NotLocked { reference, file });
            };
            let platforms = Some(image.platforms.clone());
            let (digest, media_type) = (image.digest.clone(), image.media_type);
            Ok(Resolved { reference, digest, media_type, platforms })
        };
        wanted.iter().map(find).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Proof;

    const DIGEST: &str = "sha256:34098e9339ac005509d0768ba1222d39b3df61802617a764f551a031d45c4371";

    fn image(reference: &str) -> LockedImage {
        LockedImage {
            reference: Reference::parse(reference).unwrap(),
            digest: Digest::parse(DIGEST).unwrap(),
            media_type: MediaType::OciIndex,
            platforms: vec!["linux/amd64".parse().unwrap()],
            resolved_at: "2026-01-31T10:00:00Z".to_owned(),
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let images = [image("r.io/b:1"), image("a:2")];
        let text = to_lock_text(&images);
        let read = LockedDigests::parse("images.lock", &text).unwrap();
        assert_eq!(read.images().count(), 2);
        let wanted =
            |text: &str| Wanted { reference: Reference::parse(text).unwrap(), proof: Proof::Body };
        let answers = read.resolve(&[wanted("docker.io/library/a:2"), wanted("a:3")], &|_, _| {});
        assert_eq!(answers[0].as_ref().unwrap().digest.as_str(), DIGEST);
        assert!(matches!(&answers[1], Err(RegistryError::NotLocked { .. })));
        assert!(images[0].is_same(&LockedImage { resolved_at: "x".into(), ..images[0].clone() }));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let good = to_lock_text(&[image("r.io/b:1")]);
        for (from, to, why) in [
            ("\"schemaVersion\": 1", "\"schemaVersion\": 2", "schemaVersion 2"),
            ("r.io/b:1", "r.io/b", "not a name with a tag"),
            ("sha256:34", "sha256:3", "hexadecimal digits"),
            ("linux/amd64", "linux", "no platform"),
            ("image.index", "image.thing", "no kind of manifest"),
            ("\"images\"", "\"image\"", "unknown field"),
        ] {
            let error = LockedDigests::parse("f", &good.replace(from, to)).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
        let twice = to_lock_text(&[image("a:1"), image("docker.io/a:1")]);
        assert!(LockedDigests::parse("f", &twice).unwrap_err().why.contains("twice"));
    }
}
