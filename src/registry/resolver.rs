//! The registries as a [`DigestResolver`]: what is asked, in which order, and what is believed.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::scope;
use std::time::Duration;

use super::client::{Question, RegistryClient};
use super::manifest::{
    Descriptor, Manifest, MediaType, PlatformFields, accept, digest_of, is_schema_1,
};
use super::{
    Credentials, DigestResolver, Mirrors, Platform, Proof, PublicKey, RegistryError, Repository,
    Resolved, Step, Wanted,
};
use crate::clock::Deadline;
use crate::http::{self, Client, Method, Response, Retry};
use crate::image::{Digest, Reference};

/// The connections to one host at a time.
const CONNECTIONS: usize = 8;
/// The bytes of a manifest that are read; the specification asks registries to take 4 MiB.
const LARGEST_MANIFEST: u64 = 4 * 1024 * 1024;
/// The bytes of an image's configuration, or of a signature's payload, that are read.
pub(super) const LARGEST_BLOB: u64 = 8 * 1024 * 1024;

/// A try is given this time, however little all of it may take.
const SHORTEST_TRY: Duration = Duration::from_secs(1);

/// What a resolution asks for beyond the digest, and how registries are reached.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Pin this platform's image in place of the index.
    pub platform: Option<Platform>,
    /// Platforms that every image must have.
    pub required: Vec<Platform>,
    /// List the platforms of every image.
    pub lists_platforms: bool,
    /// The key that has to have signed every image.
    pub key: Option<PublicKey>,
    /// Hosts asked in place of others.
    pub mirrors: Mirrors,
    /// Hosts that are asked without TLS.
    pub plain_http: Vec<String>,
    /// The time that all of it may take.
    pub allowed: Duration,
    /// Connections, proxies, roots.
    pub http: http::Options,
}

/// The registries of the world.
pub struct Registries {
    pub(super) client: RegistryClient,
    options: Options,
}

impl Registries {
    /// Nothing is asked and no credential is read yet; the time begins to run.
    pub fn new(options: Options, credentials: Credentials) -> Self {
        let client = RegistryClient {
            http: Client::new(&options.http),
            credentials,
            plain_http: options.plain_http.iter().map(|host| host.to_ascii_lowercase()).collect(),
            deadline: Deadline::after(options.allowed),
            retry: patience(options.allowed),
            hosts: Mutex::new(HashMap::new()),
        };
        Self { client, options }
    }

    /// The digests of the images that an index has; none for a manifest that is no index.
    ///
    /// # Errors
    /// As for any question: the registry does not answer, or has nothing of that name.
    pub fn images_of(&self, reference: &Reference) -> Result<Vec<Digest>, RegistryError> {
        let shown = reference.to_string();
        let repository = self.options.mirrors.apply(Repository::of(reference));
        let image = Image { registries: self, reference: &shown, repository: &repository };
        let name = match (reference.digest(), reference.tag()) {
            (Some(digest), _) => digest.as_str(),
            (None, tag) => tag.unwrap_or("latest"),
        };
        let fetched = image.fetch(name)?;
        let entries = fetched.manifest.manifests.iter();
        Ok(entries.filter_map(|entry| Digest::parse(&entry.digest).ok()).collect())
    }

    fn resolve_one(&self, wanted: &Wanted) -> Result<Resolved, RegistryError> {
        let reference = wanted.reference.to_string();
        let repository = self.options.mirrors.apply(Repository::of(&wanted.reference));
        let image = Image { registries: self, reference: &reference, repository: &repository };
        let name = match (wanted.reference.digest(), wanted.reference.tag()) {
            (Some(digest), _) => digest.as_str(),
            (None, tag) => tag.unwrap_or("latest"),
        };
        let options = &self.options;
        let is_claim_enough = wanted.proof == Proof::Claim
            && options.platform.is_none()
            && options.required.is_empty()
            && !options.lists_platforms;
        let claim = if is_claim_enough { image.ask_head(name)? } else { None };
        if let Some((digest, media_type)) = claim {
            let reference = wanted.reference.clone();
            return Ok(Resolved { reference, digest, media_type, platforms: None });
        }
        let fetched = image.fetch(name)?;
        let (fetched, platforms) = image.choose(fetched)?;
        if let (Some(key), Proof::Body) = (&options.key, wanted.proof) {
            super::signature::verify(&image, &fetched.digest, key)?;
        }
        let Fetched { digest, media_type, .. } = fetched;
        Ok(Resolved { reference: wanted.reference.clone(), digest, media_type, platforms })
    }
}

impl DigestResolver for Registries {
    fn resolve(&self, wanted: &[Wanted], step: Step<'_>) -> Vec<Result<Resolved, RegistryError>> {
        let mut unique: Vec<&Wanted> = Vec::new();
        let mut places = Vec::with_capacity(wanted.len());
        let mut known: HashMap<(String, Proof), usize> = HashMap::new();
        for one in wanted {
            let place = *known.entry((one.reference.to_string(), one.proof)).or_insert_with(|| {
                unique.push(one);
                unique.len() - 1
            });
            places.push(place);
        }
        let answers = self.resolve_unique(&unique, step);
        places.into_iter().map(|place| answers[place].clone()).collect()
    }
}

impl Registries {
    /// One queue and at most [`CONNECTIONS`] threads for each host.
    fn resolve_unique(
        &self,
        unique: &[&Wanted],
        step: Step<'_>,
    ) -> Vec<Result<Resolved, RegistryError>> {
        let mut queues: HashMap<String, VecDeque<usize>> = HashMap::new();
        for (at, wanted) in unique.iter().enumerate() {
            let repository = self.options.mirrors.apply(Repository::of(&wanted.reference));
            queues.entry(repository.host).or_default().push_back(at);
        }
        let done = AtomicUsize::new(0);
        let answers = Mutex::new(Vec::with_capacity(unique.len()));
        scope(|scope| {
            for queue in queues.into_values() {
                let threads = queue.len().min(CONNECTIONS);
                let queue = std::sync::Arc::new(Mutex::new(queue));
                for _ in 0..threads {
                    let (queue, done, answers) = (std::sync::Arc::clone(&queue), &done, &answers);
                    scope.spawn(move || {
                        while let Some(at) = next(&queue) {
                            let answer = self.resolve_one(unique[at]);
                            lock(answers).push((at, answer));
                            step(done.fetch_add(1, Ordering::Relaxed) + 1, unique.len());
                        }
                    });
                }
            }
        });
        let mut answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
        answers.sort_by_key(|(at, _)| *at);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }
}

/// One try that hangs takes no more than half of the time, so that there is a second one.
fn patience(allowed: Duration) -> Retry {
    let usual = Retry::default();
    Retry { each: (allowed / 2).clamp(SHORTEST_TRY, usual.each), ..usual }
}

fn next(queue: &Mutex<VecDeque<usize>>) -> Option<usize> {
    lock(queue).pop_front()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One image that is asked for.
pub(super) struct Image<'a> {
    registries: &'a Registries,
    pub(super) reference: &'a str,
    repository: &'a Repository,
}

/// A manifest that was read and has the digest that everything says it has.
pub(super) struct Fetched {
    pub(super) digest: Digest,
    media_type: MediaType,
    pub(super) manifest: Manifest,
}

impl Image<'_> {
    fn question<'q>(&'q self, method: Method, name: &'q str, accept: &'q str) -> Question<'q> {
        Question {
            reference: self.reference,
            repository: self.repository,
            method,
            kind: "manifests",
            name,
            accept,
            limit: LARGEST_MANIFEST,
        }
    }

    /// What the registry says without a body; `None` where it does not say enough, and a `GET` has to tell.
    fn ask_head(&self, name: &str) -> Result<Option<(Digest, MediaType)>, RegistryError> {
        let accept = accept();
        let question = self.question(Method::Head, name, &accept);
        let response = self.registries.client.ask(question)?;
        match response.status {
            200 => {}
            429 | 500.. => {
                if response.status == 501 {
                    return Ok(None);
                }
                return Err(self.registries.client.failure(question, &response));
            }
            _ => return Ok(None),
        }
        let media_type = response.header("Content-Type").and_then(MediaType::find);
        let (Some(media_type), Some(digest)) = (media_type, self.claimed(&response)?) else {
            return Ok(None);
        };
        if name.starts_with("sha256:") && name != digest.as_str() {
            return Err(self.contradiction(format!("asked for {name}, it speaks of {digest}")));
        }
        Ok(Some((digest, media_type)))
    }

    /// `Docker-Content-Digest`, which is optional; one of another algorithm claims nothing that can be used.
    fn claimed(&self, response: &Response) -> Result<Option<Digest>, RegistryError> {
        match response.header("Docker-Content-Digest").map(str::trim) {
            Some(text) if text.starts_with("sha256:") => Digest::parse(text)
                .map(Some)
                .map_err(|_| self.contradiction("its digest header is no digest".to_owned())),
            _ => Ok(None),
        }
    }

    fn contradiction(&self, why: String) -> RegistryError {
        RegistryError::Contradiction {
            reference: self.reference.to_owned(),
            host: self.repository.host.clone(),
            why,
        }
    }

    fn not_an_image(&self, what: &str) -> RegistryError {
        RegistryError::NotAnImage { reference: self.reference.to_owned(), what: what.to_owned() }
    }

    /// Reads a manifest by tag or digest; its digest is that of the bytes received, and every claim has to agree.
    pub(super) fn fetch(&self, name: &str) -> Result<Fetched, RegistryError> {
        let accept = accept();
        let question = self.question(Method::Get, name, &accept);
        let response = self.registries.client.ask(question)?;
        if response.status != 200 {
            return Err(self.registries.client.failure(question, &response));
        }
        let no_digest = || self.not_an_image("its digest is all zeros");
        let digest = digest_of(&response.body).ok_or_else(no_digest)?;
        if let Some(claimed) = self.claimed(&response)?.filter(|claimed| *claimed != digest) {
            return Err(
                self.contradiction(format!("its header says {claimed}, its body is {digest}"))
            );
        }
        if name.starts_with("sha256:") && name != digest.as_str() {
            return Err(self.contradiction(format!("asked for {name}, it sends {digest}")));
        }
        let media_type = self.media_type(&response)?;
        let Some(manifest) = Manifest::parse(&response.body) else {
            return Err(self.not_an_image("its manifest is no JSON of a manifest"));
        };
        self.check_own_type(&manifest, media_type)?;
        let media_type = media_type.or_else(|| manifest.own_media_type());
        let media_type =
            media_type.ok_or_else(|| self.not_an_image("a manifest of an unknown kind"))?;
        Ok(Fetched { digest, media_type, manifest })
    }

    /// The kind that the answer has; `None` where the server names a general one.
    fn media_type(&self, response: &Response) -> Result<Option<MediaType>, RegistryError> {
        let content_type = response.header("Content-Type").unwrap_or_default();
        if is_schema_1(content_type) {
            return Err(
                self.not_an_image("a manifest of Docker's schema 1, whose digest does not hold")
            );
        }
        let general = ["", "application/json", "application/octet-stream", "text/plain"];
        let plain = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match MediaType::find(content_type) {
            None if !general.contains(&plain.as_str()) => {
                let shown: String =
                    plain.chars().filter(|c| c.is_ascii_graphic()).take(80).collect();
                Err(self.not_an_image(&format!("something of type {shown}")))
            }
            found => Ok(found),
        }
    }

    fn check_own_type(
        &self,
        manifest: &Manifest,
        answered: Option<MediaType>,
    ) -> Result<(), RegistryError> {
        let own = manifest.own_media_type();
        match (answered, own) {
            (Some(answered), Some(own)) if answered != own => Err(self.contradiction(format!(
                "its answer is of type {}, its manifest of {}",
                answered.name(),
                own.name()
            ))),
            (None, None) if manifest.schema_version == Some(1) => {
                Err(self
                    .not_an_image("a manifest of Docker's schema 1, whose digest does not hold"))
            }
            _ => Ok(()),
        }
    }

    /// The manifest to pin: the index, or one platform's image; and the platforms, where somebody asks.
    fn choose(&self, fetched: Fetched) -> Result<(Fetched, Option<Vec<Platform>>), RegistryError> {
        let options = &self.registries.options;
        let is_asked =
            options.platform.is_some() || !options.required.is_empty() || options.lists_platforms;
        if !is_asked {
            return Ok((fetched, None));
        }
        let platforms = self.platforms(&fetched)?;
        for required in &options.required {
            if !platforms.iter().any(|platform| platform.fits(required)) {
                return Err(self.no_platform(required, &platforms));
            }
        }
        let Some(wanted) = &options.platform else { return Ok((fetched, Some(platforms))) };
        let fitting: Vec<&Platform> = platforms.iter().filter(|p| p.fits(wanted)).collect();
        let chosen = match fitting[..] {
            [] => return Err(self.no_platform(wanted, &platforms)),
            [one] => one.clone(),
            _ => {
                return Err(RegistryError::SeveralPlatforms {
                    reference: self.reference.to_owned(),
                    wanted: wanted.to_string(),
                    available: fitting.iter().map(ToString::to_string).collect(),
                });
            }
        };
        let entry = fetched.manifest.images().find(|(platform, _)| *platform == chosen);
        let Some((_, entry)) = entry else { return Ok((fetched, Some(vec![chosen]))) };
        let child = self.fetch(&entry.digest.clone())?;
        Ok((child, Some(vec![chosen])))
    }

    fn no_platform(&self, wanted: &Platform, platforms: &[Platform]) -> RegistryError {
        RegistryError::NoPlatform {
            reference: self.reference.to_owned(),
            wanted: wanted.to_string(),
            available: platforms.iter().map(ToString::to_string).collect(),
        }
    }

    /// Those of an index stand in it; that of a single image stands in its configuration.
    fn platforms(&self, fetched: &Fetched) -> Result<Vec<Platform>, RegistryError> {
        if fetched.media_type.is_index() {
            let mut platforms: Vec<Platform> = fetched.manifest.images().map(|(p, _)| p).collect();
            platforms.sort();
            platforms.dedup();
            return Ok(platforms);
        }
        let Some(config) = &fetched.manifest.config else { return Ok(Vec::new()) };
        let body = self.fetch_blob(config)?;
        let fields: Option<PlatformFields> = serde_json::from_slice(&body).ok();
        Ok(fields.and_then(|fields| fields.to_platform()).into_iter().collect())
    }

    /// Reads a blob, which has the digest that its descriptor says.
    pub(super) fn fetch_blob(&self, blob: &Descriptor) -> Result<Vec<u8>, RegistryError> {
        let no_digest = |_| self.contradiction("it names a blob by no digest".to_owned());
        let digest = Digest::parse(&blob.digest).map_err(no_digest)?;
        let question = Question {
            kind: "blobs",
            limit: LARGEST_BLOB,
            ..self.question(Method::Get, digest.as_str(), "")
        };
        let response = self.registries.client.ask(question)?;
        if response.status != 200 {
            return Err(self.registries.client.failure(question, &response));
        }
        match digest_of(&response.body) {
            Some(found) if found == digest => Ok(response.body),
            _ => Err(self.contradiction(format!("the blob {digest} has other bytes"))),
        }
    }
}
