//! Digests from a registry, or from a file that an earlier run wrote: asked once a run, kept for what is made again, and
//! written down where the user wants that.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Context;
use super::input;
use crate::clock;
use crate::error::{Error, Location, codes};
use crate::http;
use crate::image::Reference;
use crate::registry::{
    self, Credentials, DigestResolver, LockedDigests, LockedImage, Mirrors, Platform, Proof,
    PublicKey, Registries, RegistryError, Resolved, Wanted, to_lock_text,
};
use crate::write::write_below;

/// The time that registries have for all of a run where `--timeout` says nothing.
const ALLOWED: Duration = Duration::from_secs(120);

/// How the user wants digests to be had.
#[derive(Clone, Debug, Default)]
pub struct DigestRequest {
    /// `--platform`: this platform's image in place of the index.
    pub platform: Option<Platform>,
    /// `--require-platforms`.
    pub required: Vec<Platform>,
    /// `--verify-signature`: the file of the key.
    pub key: Option<PathBuf>,
    /// `--mirror`: `HOST=MIRROR`.
    pub mirrors: Vec<String>,
    /// `--plain-http`: hosts that are asked without TLS.
    pub plain_http: Vec<String>,
    /// `--registry-ca`: files of certificate authorities beside the system's.
    pub authorities: Vec<PathBuf>,
    /// `--write-lock`.
    pub write_lock: Option<PathBuf>,
    /// `--from-lock`.
    pub from_lock: Option<PathBuf>,
}

/// Where digests come from, and those that were had.
pub struct Digests {
    resolver: Box<dyn DigestResolver>,
    known: Mutex<BTreeMap<(String, Proof), Answer>>,
    locked: Option<LockedDigests>,
}

type Answer = Result<Resolved, RegistryError>;

impl std::fmt::Debug for Digests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Digests")
    }
}

impl Digests {
    /// The registries, or the lock file that `request` names.
    ///
    /// # Errors
    /// A file that cannot be used, a mirror that is none, or `--offline` without a lock file.
    pub fn new(context: &Context, request: &DigestRequest) -> Result<Self, Error> {
        if let Some(file) = &request.write_lock {
            require_lock_or_nothing(&context.cwd, file)?;
        }
        let locked = match &request.from_lock {
            Some(file) => Some(load_lock(&context.cwd, file)?),
            None => None,
        };
        let resolver: Box<dyn DigestResolver> = match &locked {
            Some(locked) => Box::new(locked.clone()),
            None => Box::new(registries(context, request)?),
        };
        Ok(Self { resolver, known: Mutex::default(), locked })
    }

    /// The images of the lock file that the digests come from; none where registries are asked.
    pub(crate) fn locked(&self) -> impl Iterator<Item = &LockedImage> {
        self.locked.iter().flat_map(LockedDigests::images)
    }

    /// What each of `wanted` stands for, in their order. What was asked before is not asked again.
    pub(crate) fn resolve(&self, context: &Context, wanted: &[Wanted]) -> Vec<Answer> {
        let key = |wanted: &Wanted| (wanted.reference.to_string(), wanted.proof);
        let is_known = |wanted: &&Wanted| !self.known().contains_key(&key(wanted));
        let new: Vec<Wanted> = wanted.iter().filter(is_known).cloned().collect();
        if !new.is_empty() {
            let step = |done, total| {
                if let Some(progress) = &context.progress {
                    progress.step(done, total);
                }
            };
            let answers = self.resolver.resolve(&new, &step);
            if let Some(progress) = &context.progress {
                progress.end();
            }
            self.known().extend(new.iter().map(key).zip(answers));
        }
        let known = self.known();
        wanted.iter().filter_map(|wanted| known.get(&key(wanted)).cloned()).collect()
    }

    /// The same, where one without a digest is an error: the first, with the others behind it.
    pub(crate) fn resolve_all(
        &self,
        context: &Context,
        wanted: &[Wanted],
    ) -> Result<Vec<Resolved>, Error> {
        let answers = self.resolve(context, wanted);
        let mut failures: Vec<&RegistryError> = Vec::new();
        for failure in answers.iter().filter_map(|answer| answer.as_ref().err()) {
            if !failures.contains(&failure) {
                failures.push(failure);
            }
        }
        if let Some((first, others)) = failures.split_first() {
            let error = Error::from((*first).clone());
            let error =
                others.iter().take(5).fold(error, |error, other| error.cause(other.to_string()));
            let more = others.len().saturating_sub(5);
            return Err(if more > 0 { error.cause(format!("and {more} more")) } else { error });
        }
        Ok(answers.into_iter().filter_map(Result::ok).collect())
    }

    fn known(&self) -> std::sync::MutexGuard<'_, BTreeMap<(String, Proof), Answer>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what was resolved by a tag to a lock file; one that says the same already stays as it is, and so does one that
    /// is there where nothing had to be resolved: the edit that it repeats is made already.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub(crate) fn write_lock(&self, cwd: &Path, file: &Path) -> Result<(), Error> {
        let now = clock::now_rfc_3339();
        let known = self.known();
        let resolved = known.values().filter_map(|answer| answer.as_ref().ok());
        let mut images: BTreeMap<String, LockedImage> = BTreeMap::new();
        for resolved in resolved.filter(|resolved| resolved.reference.digest().is_none()) {
            let image = to_locked(resolved, &now)?;
            images.insert(image.reference.to_string(), image);
        }
        let path = cwd.join(file);
        let before = std::fs::read_to_string(&path).ok();
        let before = before.and_then(|text| LockedDigests::parse("", &text).ok());
        let images: Vec<LockedImage> = images.into_values().collect();
        if before.is_some_and(|before| images.is_empty() || is_same(&before, &images)) {
            return Ok(());
        }
        let no_name =
            || Error::new(codes::USAGE, format!("--write-lock {}: no file", file.display()));
        let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(no_name)?;
        let folder = path.parent().ok_or_else(no_name)?;
        write_below(folder, name, to_lock_text(&images).as_bytes())?;
        Ok(())
    }
}

/// Another file is not written over by mistake.
fn require_lock_or_nothing(cwd: &Path, file: &Path) -> Result<(), Error> {
    let refuse = |what: &str| {
        let message = format!("--write-lock {}: {what}", file.display());
        Error::new(codes::IMAGE_LOCK_INVALID, message)
    };
    match std::fs::read_to_string(cwd.join(file)) {
        Ok(text) if text.is_empty() => Ok(()),
        Ok(text) if LockedDigests::parse("", &text).is_ok() => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() != std::io::ErrorKind::InvalidData => {
            Err(refuse(&error.to_string()))
        }
        _ => Err(refuse("what stands there is no lock file, and is not written over")
            .hint("name another file, or remove it first")),
    }
}

fn is_same(before: &LockedDigests, images: &[LockedImage]) -> bool {
    let find = |image: &LockedImage| before.images().any(|other| other.is_same(image));
    before.images().count() == images.len() && images.iter().all(find)
}

/// A lock file names every tag, `latest` too.
fn to_locked(resolved: &Resolved, now: &str) -> Result<LockedImage, Error> {
    let reference = match resolved.reference.tag() {
        Some(_) => resolved.reference.clone(),
        None => parse_reference(&format!("{}:latest", resolved.reference.name()))?,
    };
    Ok(LockedImage {
        reference,
        digest: resolved.digest.clone(),
        media_type: resolved.media_type,
        platforms: resolved.platforms.clone().unwrap_or_default(),
        resolved_at: now.to_owned(),
    })
}

/// Reads what is asked for.
///
/// # Errors
/// A rendered image that is none: its name is one that no registry takes.
pub(crate) fn parse_reference(text: &str) -> Result<Reference, Error> {
    Reference::parse(text).map_err(|error| {
        let message = format!("{text} is no image that a registry can be asked for: {error}");
        Error::new(codes::NOT_AN_IMAGE, message)
    })
}

fn load_lock(cwd: &Path, file: &Path) -> Result<LockedDigests, Error> {
    let input = input::load_file(cwd, file)?;
    LockedDigests::parse(&input.name, &input.text).map_err(|error| {
        let location =
            Location { file: input.name.clone(), line: error.line, column: error.column };
        Error::new(codes::IMAGE_LOCK_INVALID, error.why).at(location)
    })
}

/// The registries, with the credentials of Docker or Podman.
///
/// # Errors
/// As [`Digests::new`].
pub(crate) fn registries(context: &Context, request: &DigestRequest) -> Result<Registries, Error> {
    if context.offline {
        let error = Error::new(codes::USAGE, "--offline: no registry is asked");
        return Err(
            error.hint("--from-lock FILE takes digests from a file that --write-lock wrote")
        );
    }
    let wrong = |pair| {
        let message = format!("--mirror {pair} is not of the form HOST=MIRROR");
        Error::new(codes::USAGE, message).hint("such as docker.io=mirror.example:5000")
    };
    let environment = registry::Environment {
        home: context.environment.home.clone(),
        variables: context.environment.variables.clone(),
    };
    let authorities = request.authorities.iter().map(|file| context.cwd.join(file)).collect();
    let options = registry::Options {
        platform: request.platform.clone(),
        required: request.required.clone(),
        lists_platforms: request.write_lock.is_some(),
        key: request.key.as_deref().map(|file| load_key(&context.cwd, file)).transpose()?,
        mirrors: Mirrors::parse(&request.mirrors).map_err(wrong)?,
        plain_http: request.plain_http.clone(),
        allowed: context.allowed_time().unwrap_or(ALLOWED),
        http: http::Options {
            proxies: http::Proxies::from_variables(&environment.variables),
            extra_roots: authorities,
            ..http::Options::default()
        },
    };
    Ok(Registries::new(options, Credentials::new(environment)))
}

fn load_key(cwd: &Path, file: &Path) -> Result<PublicKey, Error> {
    let input = input::load_file(cwd, file)?;
    PublicKey::parse(input.text.as_bytes())
        .map_err(|error| Error::new(codes::SIGNATURE_KEY, format!("{}: {error}", input.name)))
}
