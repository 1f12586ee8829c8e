//! Manifests: what kinds there are, what an index holds, and the digest of bytes.

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::Platform;
use crate::image::Digest;

/// The four kinds of manifest that an image may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MediaType {
    /// One image, as OCI writes it.
    OciManifest,
    /// An index of images, as OCI writes it.
    OciIndex,
    /// One image, as Docker writes it (schema 2).
    DockerManifest,
    /// A list of images, as Docker writes it.
    DockerList,
}

impl MediaType {
    const ALL: [Self; 4] =
        [Self::OciIndex, Self::DockerList, Self::OciManifest, Self::DockerManifest];

    /// The name in `Content-Type`, `Accept` and `mediaType`.
    pub fn name(self) -> &'static str {
        match self {
            Self::OciManifest => "application/vnd.oci.image.manifest.v1+json",
            Self::OciIndex => "application/vnd.oci.image.index.v1+json",
            Self::DockerManifest => "application/vnd.docker.distribution.manifest.v2+json",
            Self::DockerList => "application/vnd.docker.distribution.manifest.list.v2+json",
        }
    }

    /// The kind that a `Content-Type` or `mediaType` names; parameters do not count.
    pub fn find(text: &str) -> Option<Self> {
        let text = text.split(';').next().unwrap_or_default().trim();
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(text))
    }

    /// Whether it lists the images of several platforms.
    pub fn is_index(self) -> bool {
        matches!(self, Self::OciIndex | Self::DockerList)
    }
}

/// All four in one `Accept`: a registry that is asked for single images alone answers with one platform's of a list.
pub(super) fn accept() -> String {
    MediaType::ALL.map(MediaType::name).join(", ")
}

/// A kind that is no image any more: Docker's first schema, whose digest a registry makes up.
pub(super) fn is_schema_1(content_type: &str) -> bool {
    content_type.starts_with("application/vnd.docker.distribution.manifest.v1+")
}

/// The digest of exactly these bytes.
pub(super) fn digest_of(bytes: &[u8]) -> Option<Digest> {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Digest::parse(&format!("sha256:{hex}")).ok()
}

/// What is read of a manifest; anything else in it does not matter here.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    pub(super) schema_version: Option<u64>,
    pub(super) media_type: Option<String>,
    #[serde(default)]
    pub(super) manifests: Vec<Descriptor>,
    pub(super) config: Option<Descriptor>,
    #[serde(default)]
    pub(super) layers: Vec<Descriptor>,
}

/// One blob or manifest that another manifest names.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    #[serde(default)]
    pub(super) media_type: String,
    pub(super) digest: String,
    #[serde(default)]
    pub(super) platform: Option<PlatformFields>,
    #[serde(default)]
    pub(super) annotations: Option<std::collections::BTreeMap<String, String>>,
}

/// Also the fields of an image's configuration that say where it runs.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct PlatformFields {
    #[serde(default)]
    os: String,
    #[serde(default)]
    architecture: String,
    variant: Option<String>,
}

impl PlatformFields {
    pub(super) fn to_platform(&self) -> Option<Platform> {
        Platform::of(&self.os, &self.architecture, self.variant.as_deref())
    }
}

impl Descriptor {
    pub(super) fn annotation(&self, name: &str) -> Option<&str> {
        self.annotations.as_ref()?.get(name).map(String::as_str)
    }

    /// What BuildKit adds about an image (provenance, bill of materials) is no image.
    fn is_attestation(&self) -> bool {
        self.annotation("vnd.docker.reference.type").is_some()
    }
}

impl Manifest {
    /// Reads a manifest's bytes.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// What the body itself says of its kind; for OCI the field is optional and the shape says it.
    pub(super) fn own_media_type(&self) -> Option<MediaType> {
        match &self.media_type {
            Some(name) => MediaType::find(name),
            None if self.schema_version != Some(2) => None,
            None if self.config.is_some() => Some(MediaType::OciManifest),
            None if !self.manifests.is_empty() => Some(MediaType::OciIndex),
            None => None,
        }
    }

    /// The images of an index, each with its platform.
    pub(super) fn images(&self) -> impl Iterator<Item = (Platform, &Descriptor)> {
        self.manifests
            .iter()
            .filter(|entry| !entry.is_attestation())
            .filter_map(|entry| Some((entry.platform.as_ref()?.to_platform()?, entry)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_their_name() {
        for kind in MediaType::ALL {
            assert_eq!(MediaType::find(&format!("{}; charset=utf-8", kind.name())), Some(kind));
            assert!(accept().contains(kind.name()));
        }
        assert_eq!(MediaType::find("application/json"), None);
        assert!(is_schema_1("application/vnd.docker.distribution.manifest.v1+prettyjws"));
    }

    // Case C82: the bodies and digests are the case's.
    #[test]
    fn attestations_are_no_platforms() {
        let body = br#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:f4118a8182bb95a17e7dcdee80a6e9055a38b8e40d3c7df673591c2596016a79","size":247,"platform":{"architecture":"amd64","os":"linux"}},{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:f20c43161d73848408ef247f0ec7111b19fe58ffebc0cbcaa0d2c8bda4967268","size":246,"platform":{"architecture":"unknown","os":"unknown"},"annotations":{"vnd.docker.reference.digest":"sha256:f4118a8182bb95a17e7dcdee80a6e9055a38b8e40d3c7df673591c2596016a79","vnd.docker.reference.type":"attestation-manifest"}}]}"#;
        let digest = digest_of(body).unwrap();
        assert_eq!(
            digest.as_str(),
            "sha256:2e21613ad96d26ef7bc416c358228a9e2f98871fc94410a3284d4c71568f2637"
        );
        let manifest = Manifest::parse(body).unwrap();
        assert_eq!(manifest.own_media_type(), Some(MediaType::OciIndex));
        let platforms: Vec<String> = manifest.images().map(|(p, _)| p.to_string()).collect();
        assert_eq!(platforms, ["linux/amd64"]);
    }

    #[test]
    fn a_body_without_a_media_type_is_known_by_its_shape() {
        let of = |body: &str| Manifest::parse(body.as_bytes())?.own_media_type();
        let image = r#"{"schemaVersion":2,"config":{"digest":"sha256:1"},"layers":[]}"#;
        assert_eq!(of(image), Some(MediaType::OciManifest));
        assert_eq!(
            of(r#"{"schemaVersion":2,"manifests":[{"digest":"d"}]}"#),
            Some(MediaType::OciIndex)
        );
        assert_eq!(of(r#"{"schemaVersion":1,"name":"a"}"#), None);
        assert_eq!(of(r#"{"errors":[]}"#), None);
        assert_eq!(of("<html>"), None);
    }
}
