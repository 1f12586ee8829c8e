//! Which directories the build of one enters.

use std::collections::BTreeSet;

use super::{SharedSources, SourceTree, is_within, join};
use crate::kustomize::types::Located;

impl SourceTree {
    /// The store that the tree shares with others of its version.
    pub(crate) fn shared(&self) -> Option<&SharedSources> {
        self.shared.as_deref()
    }

    /// Whether no text is another than that of the version.
    pub(crate) fn is_unedited(&self) -> bool {
        self.edited.is_empty()
    }

    /// Whether what was built of `directories` alone, of the version, is what this tree would build: it
    /// holds all of them, and no text of theirs is edited. A kustomization reads files of its own
    /// directory only.
    pub(crate) fn may_take(&self, directories: &[String]) -> bool {
        directories.iter().all(|directory| {
            self.kustomizations.contains_key(directory)
                && !self.edited.iter().any(|path| is_within(path, directory))
        })
    }

    /// `directory` and every directory whose kustomization a build of it may read, by real path.
    pub(crate) fn directories_reached(&self, directory: &str) -> Vec<String> {
        let mut reached = BTreeSet::from([directory.to_owned()]);
        let mut pending = vec![directory.to_owned()];
        while let Some(directory) = pending.pop() {
            let Some(read) = self.kustomization(&directory) else { continue };
            for reference in read.kustomization.directory_references() {
                let found = self.directory_of_reference(&directory, reference);
                pending.extend(found.filter(|found| reached.insert(found.clone())));
            }
        }
        reached.into_iter().collect()
    }

    /// The directories that the kustomization of `directory` names itself, by real path.
    #[must_use]
    pub fn directories_used(&self, directory: &str) -> BTreeSet<String> {
        let Some(read) = self.kustomization(directory) else { return BTreeSet::new() };
        let references = read.kustomization.directory_references();
        references.filter_map(|named| self.directory_of_reference(directory, named)).collect()
    }

    fn directory_of_reference(&self, directory: &str, reference: &Located) -> Option<String> {
        let asked = match self.remote(reference) {
            Some(supplied) => supplied.to_owned(),
            None => join(directory, reference)?,
        };
        self.directory(&asked).map(str::to_owned)
    }
}
