//! Tree objects: reading one, and writing again only those along the paths that change.

use std::collections::BTreeMap;

use super::error::GitError;
use super::id::ObjectId;
use super::objects::{Kind, Objects};

/// What a tree says an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A regular file, `100644` (or the old group-writable `100664`, kept as it is).
    File(u32),
    /// A file that may be run, `100755`.
    Executable,
    /// A symbolic link; its blob is the target.
    Link,
    /// A directory.
    Tree,
    /// A submodule: a commit of another repository.
    Submodule,
}

impl Mode {
    /// A plain new file.
    pub const NEW: Self = Self::File(0o100_644);

    /// From the number in a tree, or `None` for one that git does not know.
    pub fn from_bits(bits: u32) -> Option<Self> {
        match bits & 0o170_000 {
            0o100_000 if bits & 0o100 != 0 => Some(Self::Executable),
            0o100_000 => Some(Self::File(bits)),
            0o120_000 => Some(Self::Link),
            0o040_000 => Some(Self::Tree),
            0o160_000 => Some(Self::Submodule),
            _ => None,
        }
    }

    /// The number as a tree and an index hold it.
    pub fn bits(self) -> u32 {
        match self {
            Self::File(bits) => bits,
            Self::Executable => 0o100_755,
            Self::Link => 0o120_000,
            Self::Tree => 0o040_000,
            Self::Submodule => 0o160_000,
        }
    }

    /// Whether the entry is a regular file.
    pub fn is_file(self) -> bool {
        matches!(self, Self::File(_) | Self::Executable)
    }
}

/// One entry of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// What it is.
    pub mode: Mode,
    /// Its object.
    pub id: ObjectId,
}

/// A tree: entries by name, as bytes, for git does not ask for UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree(BTreeMap<Vec<u8>, TreeEntry>);

impl Tree {
    /// Reads the bytes of a tree object whose names have `id_len` bytes.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(bytes: &[u8], id_len: usize) -> Result<Self, String> {
        let mut entries = BTreeMap::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (name, entry, next) = parse_entry(rest, id_len).ok_or("a broken tree object")?;
            if entries.insert(name.to_vec(), entry).is_some() {
                return Err("a tree object that names an entry twice".to_owned());
            }
            rest = next;
        }
        Ok(Self(entries))
    }

    /// The entry of this name in the bytes of a tree object whose names have `id_len` bytes, without reading
    /// the rest; `None` also where the object is broken.
    pub fn find_in(bytes: &[u8], id_len: usize, name: &[u8]) -> Option<TreeEntry> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (found, entry, next) = parse_entry(rest, id_len)?;
            if found == name {
                return Some(entry);
            }
            rest = next;
        }
        None
    }

    /// The entry of this name.
    pub fn find(&self, name: &[u8]) -> Option<TreeEntry> {
        self.0.get(name).copied()
    }

    /// All entries, by name.
    pub fn entries(&self) -> impl Iterator<Item = (&[u8], TreeEntry)> {
        self.0.iter().map(|(name, entry)| (name.as_slice(), *entry))
    }

    /// The bytes of the tree object, in git's order: a directory sorts as if its name ended in `/`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut ordered: Vec<(Vec<u8>, &Vec<u8>, &TreeEntry)> =
            self.0.iter().map(|(name, entry)| (sort_key(name, entry.mode), name, entry)).collect();
        ordered.sort_by(|a, b| a.0.cmp(&b.0));
        let mut bytes = Vec::new();
        for (_, name, entry) in ordered {
            bytes.extend_from_slice(format!("{:o} ", entry.mode.bits()).as_bytes());
            bytes.extend_from_slice(name);
            bytes.push(0);
            bytes.extend_from_slice(entry.id.as_bytes());
        }
        bytes
    }
}

fn sort_key(name: &[u8], mode: Mode) -> Vec<u8> {
    let mut key = name.to_vec();
    if mode == Mode::Tree {
        key.push(b'/');
    }
    key
}

fn parse_entry(bytes: &[u8], id_len: usize) -> Option<(&[u8], TreeEntry, &[u8])> {
    let space = bytes.iter().position(|b| *b == b' ')?;
    let bits = u32::from_str_radix(std::str::from_utf8(bytes.get(..space)?).ok()?, 8).ok()?;
    let rest = bytes.get(space + 1..)?;
    let end = rest.iter().position(|b| *b == 0)?;
    let name = rest.get(..end).filter(|name| !name.is_empty())?;
    let id = ObjectId::from_bytes(rest.get(end + 1..end + 1 + id_len)?)?;
    let entry = TreeEntry { mode: Mode::from_bits(bits)?, id };
    Some((name, entry, rest.get(end + 1 + id_len..)?))
}

/// One file of the new tree: its path and what stands there, `None` for a file that goes.
pub type Placed<'a> = (&'a str, Option<TreeEntry>);

/// Writes the trees that differ from those below `root` once `files` are in place; returns the new root.
/// Directories that become empty go, as git has none.
///
/// # Errors
/// [`GitError`] where a tree cannot be read or written, or a file stands where a directory has to.
pub fn write_trees(
    objects: &Objects,
    root: ObjectId,
    files: &[Placed<'_>],
) -> Result<ObjectId, GitError> {
    let tree = edit_tree(objects, Some(root), files, "")?;
    objects.write(Kind::Tree, &tree.to_bytes())
}

fn edit_tree(
    objects: &Objects,
    id: Option<ObjectId>,
    files: &[Placed<'_>],
    at: &str,
) -> Result<Tree, GitError> {
    let mut tree = match id {
        Some(id) => objects.tree(id)?.as_ref().clone(),
        None => Tree::default(),
    };
    let mut below: BTreeMap<&str, Vec<Placed<'_>>> = BTreeMap::new();
    for (path, entry) in files {
        match path.split_once('/') {
            Some((directory, rest)) => below.entry(directory).or_default().push((rest, *entry)),
            None => place(&mut tree, path, *entry),
        }
    }
    for (name, files) in below {
        let here = format!("{at}{name}/");
        let child = subdirectory(&tree, name, &here)?;
        let edited = edit_tree(objects, child, &files, &here)?;
        let entry = if edited.0.is_empty() {
            None
        } else {
            let id = objects.write(Kind::Tree, &edited.to_bytes())?;
            Some(TreeEntry { mode: Mode::Tree, id })
        };
        place(&mut tree, name, entry);
    }
    Ok(tree)
}

fn place(tree: &mut Tree, name: &str, entry: Option<TreeEntry>) {
    match entry {
        Some(entry) => tree.0.insert(name.as_bytes().to_vec(), entry),
        None => tree.0.remove(name.as_bytes()),
    };
}

fn subdirectory(tree: &Tree, name: &str, here: &str) -> Result<Option<ObjectId>, GitError> {
    match tree.find(name.as_bytes()) {
        None => Ok(None),
        Some(entry) if entry.mode == Mode::Tree => Ok(Some(entry.id)),
        Some(_) => Err(GitError::NotEditable {
            path: here.trim_end_matches('/').to_owned(),
            reason: "it is not a directory in this revision".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(mode: Mode, fill: u8) -> TreeEntry {
        TreeEntry { mode, id: ObjectId::from_bytes(&[fill; 20]).unwrap() }
    }

    #[test]
    fn trees_are_written_in_the_order_of_git() {
        let mut tree = Tree::default();
        place(&mut tree, "a", Some(entry(Mode::Tree, 1)));
        place(&mut tree, "a.b", Some(entry(Mode::NEW, 2)));
        place(&mut tree, "a0", Some(entry(Mode::Executable, 3)));
        let bytes = tree.to_bytes();
        let names: Vec<usize> = ["a.b", "a\0", "a0"]
            .iter()
            .map(|n| bytes.windows(n.len()).position(|w| w == n.as_bytes()).unwrap())
            .collect();
        assert!(names.is_sorted(), "{names:?}");
        assert_eq!(Tree::parse(&bytes, 20).unwrap(), tree);
    }

    #[test]
    fn broken_trees_are_refused() {
        for bytes in [
            &b"100644 a"[..],
            b"100644 a\0short",
            b"999999 a\0",
            b"x",
            b"100644 \0aaaaaaaaaaaaaaaaaaaa",
        ] {
            assert!(Tree::parse(bytes, 20).is_err());
        }
    }
}
