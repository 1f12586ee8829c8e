//! What differs between what one overlay reaches in two versions of a repository.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::{Found, SourceTree};

impl SourceTree {
    /// The paths that make the two trees differ: files whose bytes differ or that only one reaches,
    /// and paths that lead elsewhere. Empty only where a build of both gives the same, for a build
    /// reads nothing else.
    #[must_use]
    pub fn differences(&self, other: &Self) -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        self.add_files_differing(other, &mut paths);
        other.add_files_differing(self, &mut paths);
        let moved: BTreeSet<&str> =
            self.found_differing(other).chain(other.found_differing(self)).collect();
        // Where a file explains it, that a directory is there or not says nothing more; a link does.
        let is_alone = paths.is_empty();
        let is_told = |path: &&str| is_alone || self.is_link(path) || other.is_link(path);
        paths.extend(moved.into_iter().filter(is_told).map(str::to_owned));
        let remotes = |tree: &Self, other: &Self| -> Vec<String> {
            let is_other =
                |(text, path): &(&String, &String)| other.remotes.get(*text) != Some(*path);
            tree.remotes.iter().filter(is_other).map(|(text, _)| text.clone()).collect()
        };
        if paths.is_empty() && self.uses_remotes() {
            paths.extend(remotes(self, other));
            paths.extend(remotes(other, self));
        }
        paths
    }

    /// A hash of what the tree holds: two trees with the same one have no [`SourceTree::differences`] but for
    /// what remote references stand for.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        for (path, file) in self.files.iter().collect::<BTreeMap<_, _>>() {
            add(path.as_bytes());
            add(&file.bytes);
        }
        for (path, found) in self.found.iter().collect::<BTreeMap<_, _>>() {
            if !matches!(found, Found::Missing) {
                add(path.as_bytes());
                add(format!("{found:?}").as_bytes());
            }
        }
        hash.finalize().into()
    }

    fn add_files_differing(&self, other: &Self, paths: &mut BTreeSet<String>) {
        for (path, file) in &self.files {
            let is_same = other.files.get(path).is_some_and(|theirs| {
                Arc::ptr_eq(&file.bytes, &theirs.bytes) || file.bytes == theirs.bytes
            });
            if !is_same {
                paths.insert(path.clone());
            }
        }
    }

    fn found_differing<'t>(&'t self, other: &'t Self) -> impl Iterator<Item = &'t str> {
        let differs = move |(path, found): &(&String, &Found)| match other.found.get(*path) {
            None => !matches!(found, Found::Missing),
            Some(theirs) => !found.is_same(theirs),
        };
        self.found.iter().filter(differs).map(|(path, _)| &**path)
    }

    /// Whether `path` is a link, or lies below one.
    fn is_link(&self, path: &str) -> bool {
        match self.found.get(path) {
            Some(Found::File(real) | Found::Directory(real)) => real != path,
            _ => false,
        }
    }

    fn uses_remotes(&self) -> bool {
        self.kustomizations().any(|(_, read)| {
            let mut references = read.kustomization.directory_references();
            references.any(|reference| self.remotes.contains_key(&**reference))
        })
    }
}

impl Found {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(a), Self::File(b)) | (Self::Directory(a), Self::Directory(b)) => a == b,
            (Self::Missing, Self::Missing) => true,
            (Self::Refused(a), Self::Refused(b)) => a == b,
            _ => false,
        }
    }
}
