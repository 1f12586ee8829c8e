//! Every image of the render that a container or an operator runs, with its place.

use super::workload::Workload;
use crate::checks::finding::Spot;
use crate::kustomize::{Resource, UseKind, find_image_uses};

/// One use of an image.
#[derive(Clone, Debug)]
pub struct ImageUse<'a> {
    /// The image, as rendered.
    pub text: &'a str,
    /// The field.
    pub spot: Spot<'a>,
    container: String,
}

impl ImageUse<'_> {
    /// `container web of Deployment/web`, or `Cluster/db`.
    #[must_use]
    pub fn shown(&self) -> String {
        let resource = self.spot.resource;
        let object = format!("{}/{}", resource.kind(), resource.name());
        match &*self.container {
            "" => object,
            container => format!("container {container} of {object}"),
        }
    }

    /// The replicas that run it, where it belongs to a workload.
    #[must_use]
    pub fn replicas(&self) -> Option<i64> {
        Workload::new(self.spot.resource).map(|workload| workload.replicas())
    }
}

/// The images of `resources`: of containers, and of fields that hold one. Arguments are not among
/// them.
#[must_use]
pub fn image_uses(resources: &[Resource]) -> Vec<ImageUse<'_>> {
    let mut found = Vec::new();
    for resource in resources.iter().filter(|resource| !is_policy(resource)) {
        for image in find_image_uses(std::slice::from_ref(resource), &[]) {
            let is_run = matches!(image.kind, UseKind::Container | UseKind::Field);
            let Some(node) = image.path.find(&resource.node).filter(|_| is_run) else { continue };
            let is_image = |text: &&str| !text.is_empty() && !text.contains("$(");
            let Some(text) = node.as_str().filter(is_image) else { continue };
            let spot = Spot::of(resource, node, image.path.to_string());
            let container = image.container.as_deref().unwrap_or_default().to_owned();
            found.push(ImageUse { text, spot, container });
        }
    }
    found
}

/// Whether it says which images to look for, and runs none: Argo CD Image Updater and Flux's
/// image automation.
fn is_policy(resource: &Resource) -> bool {
    let groups = ["argocd-image-updater.argoproj.io/", "image.toolkit.fluxcd.io/"];
    groups.iter().any(|group| resource.api_version().starts_with(group))
}
