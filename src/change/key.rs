//! How a user names images, and which image fields that means.

use crate::image::{Named, Split, is_same_name, is_tag, last_segments_match};

/// How a user names images: a whole name, its last segments, a container or a workload; `NAME:TAG` narrows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    text: String,
    name_len: usize,
    is_exact: bool,
}

impl Key {
    /// Reads a key. Every text is one; what it names is decided by what is rendered.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let path = text.rfind('/').map_or(0, |i| i + 1);
        let tag_at = text[path..].find(':').map(|i| i + path).filter(|i| is_tag(&text[i + 1..]));
        Self { text: text.to_owned(), name_len: tag_at.unwrap_or(text.len()), is_exact: false }
    }

    /// The key of the fields that render exactly this reference.
    #[must_use]
    pub fn exactly(reference: &str) -> Self {
        let name_len = Split::parse(reference).name.len();
        Self { text: reference.to_owned(), name_len, is_exact: true }
    }

    /// The key as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The key without its tag.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.text[..self.name_len]
    }

    /// The tag that narrows the key.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        self.text.get(self.name_len + 1..).filter(|_| !self.is_exact)
    }

    /// Whether it is the key of one rendered reference.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    fn fits_tag(&self, tag: &str) -> bool {
        self.tag().is_none_or(|wanted| wanted == tag)
    }
}

/// What a key names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The fields, by position.
    pub fields: Vec<usize>,
    /// Whether the key is a whole name, and not the end of one, a container or a workload.
    pub is_whole_name: bool,
}

/// A key that names no one image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// No field has that name.
    Nothing,
    /// Fields with different names, all of them listed once.
    Several(Vec<String>),
}

impl Key {
    /// The fields that the key names, by position. The first way that fits any field decides: the whole
    /// name, the last segments of one, then a container or a workload that uses one image.
    ///
    /// # Errors
    /// [`KeyError`] where no field fits, or the last segments, container or workload mean several images.
    pub fn find_fields(&self, fields: &[Named<'_>]) -> Result<Found, KeyError> {
        if self.is_exact {
            let fields = positions(fields, |f| f.reference == self.text);
            let found = Found { fields, is_whole_name: true };
            return if found.fields.is_empty() { Err(KeyError::Nothing) } else { Ok(found) };
        }
        let whole = positions(fields, |f| f.names().any(|name| self.is_whole_name_of(f, name)));
        if !whole.is_empty() {
            return Ok(Found { fields: whole, is_whole_name: true });
        }
        self.find_by_part(fields).map(|fields| Found { fields, is_whole_name: false })
    }

    fn find_by_part(&self, fields: &[Named<'_>]) -> Result<Vec<usize>, KeyError> {
        let ends = positions(fields, |f| f.names().any(|name| self.is_last_segments_of(f, name)));
        if !ends.is_empty() {
            return one_name(ends.iter().map(|i| fields[*i].name())).map(|_| ends);
        }
        let name = one_name(self.names_by_place(fields))?;
        let users = positions(fields, |f| is_same_name(f.name(), &name) && self.fits_tag_of(f));
        if users.is_empty() { Err(KeyError::Nothing) } else { Ok(users) }
    }

    /// An entry may have the tag in its own name, whatever it then makes of it.
    fn is_whole_name_of(&self, field: &Named<'_>, name: &str) -> bool {
        let name = Split::parse(name);
        let fits_tag = self.fits_tag_of(field) || self.tag() == Some(name.tag);
        fits_tag && is_same_name(name.name, self.name())
    }

    fn is_last_segments_of(&self, field: &Named<'_>, name: &str) -> bool {
        self.fits_tag_of(field) && last_segments_match(Split::parse(name).name, self.name())
    }

    fn fits_tag_of(&self, field: &Named<'_>) -> bool {
        self.fits_tag(Split::parse(field.reference).tag)
    }

    /// The images of the containers of that name, and of the workload of that name where it uses one.
    fn names_by_place<'a>(&self, fields: &[Named<'a>]) -> Vec<&'a str> {
        let of = |fits: &dyn Fn(&Named<'a>) -> bool| -> Vec<&'a str> {
            fields.iter().filter(|f| fits(f)).map(|f| Split::parse(f.reference).name).collect()
        };
        let mut names = of(&|f| f.container == Some(self.name()));
        let workload = of(&|f| f.workload == self.name());
        if one_name(workload.iter().copied()).is_ok() {
            names.extend(workload);
        }
        names
    }
}

fn positions<'a>(fields: &[Named<'a>], fits: impl Fn(&Named<'a>) -> bool) -> Vec<usize> {
    (0..fields.len()).filter(|i| fits(&fields[*i])).collect()
}

/// The one repository that all `names` mean.
fn one_name<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<String, KeyError> {
    let mut distinct: Vec<String> = Vec::new();
    for name in names {
        if !distinct.iter().any(|known| is_same_name(known, name)) {
            distinct.push(name.to_owned());
        }
    }
    match distinct.len() {
        0 => Err(KeyError::Nothing),
        1 => Ok(distinct.remove(0)),
        _ => Err(KeyError::Several(distinct)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_no_tag_of_a_key() {
        assert_eq!(Key::parse("reg:5000/web").tag(), None);
        let key = Key::parse("reg:5000/web:1.0");
        assert_eq!((key.name(), key.tag()), ("reg:5000/web", Some("1.0")));
    }

    fn field<'a>(reference: &'a str, container: &'a str, workload: &'a str) -> Named<'a> {
        Named { reference, entry_names: Vec::new(), container: Some(container), workload }
    }

    fn found(key: &str, fields: &[Named<'_>]) -> Result<Vec<usize>, KeyError> {
        Key::parse(key).find_fields(fields).map(|found| found.fields)
    }

    #[test]
    fn the_first_way_that_fits_decides() {
        let fields =
            [field("web", "a", "x"), field("reg.io/team/web", "b", "y"), field("c", "web", "z")];
        assert_eq!(found("web", &fields), Ok(vec![0]));
        assert_eq!(found("web", &fields[1..]), Ok(vec![0]));
        assert_eq!(found("team/web", &fields), Ok(vec![1]));
        assert_eq!(found("web", &fields[2..]), Ok(vec![0]));
        assert_eq!(found("z", &fields), Ok(vec![2]));
    }

    #[test]
    fn an_exact_key_is_one_rendered_reference() {
        let fields =
            [field("web:1", "a", "x"), field("web:1@sha256:00", "b", "y"), field("web", "c", "z")];
        let found = |key: &str| Key::exactly(key).find_fields(&fields).map(|found| found.fields);
        assert_eq!(found("web:1"), Ok(vec![0]));
        assert_eq!(found("web:1@sha256:00"), Ok(vec![1]));
        assert_eq!(found("web"), Ok(vec![2]));
        assert_eq!(found("web:2"), Err(KeyError::Nothing));
        let key = Key::exactly("reg:5000/web:1@sha256:00");
        assert_eq!((key.name(), key.tag()), ("reg:5000/web", None));
    }

    #[test]
    fn every_spelling_of_a_name_is_found() {
        let fields = [field("redis:7", "a", "x"), field("docker.io/library/redis:6", "b", "y")];
        assert_eq!(found("index.docker.io/redis", &fields), Ok(vec![0, 1]));
        assert_eq!(found("redis:6", &fields), Ok(vec![1]));
    }

    #[test]
    fn a_container_names_its_image_wherever_it_is_used() {
        let fields = [field("reg.io/a:1", "relay", "x"), field("reg.io/a:1", "other", "y")];
        assert_eq!(found("relay", &fields), Ok(vec![0, 1]));
    }

    #[test]
    fn two_images_under_one_short_name_are_both_named() {
        let fields = [field("reg.io/a/web", "m", "x"), field("reg.io/b/web", "n", "x")];
        let both = vec!["reg.io/a/web".to_owned(), "reg.io/b/web".to_owned()];
        assert_eq!(found("web", &fields), Err(KeyError::Several(both)));
        assert_eq!(found("x", &fields), Err(KeyError::Nothing));
    }

    #[test]
    fn an_entry_with_a_tag_in_its_name_is_found_after_the_tag_is_gone() {
        let mut pinned = field("web@sha256:00", "c", "x");
        pinned.entry_names = vec!["web:1"];
        assert_eq!(found("web:1", &[pinned.clone()]), Ok(vec![0]));
        assert_eq!(found("web:2", &[pinned]), Err(KeyError::Nothing));
    }

    #[test]
    fn an_entry_names_what_it_decides() {
        let mut renamed = field("mirror.test/web:1", "c", "x");
        renamed.entry_names = vec!["WEB_IMAGE", "mirror.test/web"];
        assert_eq!(found("WEB_IMAGE", &[renamed]), Ok(vec![0]));
    }
}
