//! What is live, read from the cluster itself, where that is the one that Argo CD lives in.

use kube::api::{Api, DynamicObject};
use kube::core::ApiResource;
use serde_json::Value;

use super::Kubernetes;
use crate::argocd::application::Destination;
use crate::argocd::port::{ManagedResource, ObjectRef, Trouble};

/// The names of the cluster that Argo CD itself runs in.
const IN_CLUSTER: [&str; 3] =
    ["https://kubernetes.default.svc", "https://kubernetes.default", "in-cluster"];

impl Kubernetes {
    /// The objects as they are; those that are not there are left out. What was rendered is not known here, so that what is
    /// live stands in its place.
    ///
    /// # Errors
    /// [`Trouble::NotServed`] for the objects of another cluster.
    pub(super) fn live_objects(
        &self,
        destination: &Destination,
        objects: &[ObjectRef],
    ) -> Result<Vec<ManagedResource>, Trouble> {
        let names = [destination.server.trim_end_matches('/'), destination.name.as_str()];
        if !names.iter().any(|name| IN_CLUSTER.contains(name)) {
            return Err(Trouble::NotServed { what: "what is live in another cluster".to_owned() });
        }
        let mut found = Vec::new();
        for object in objects {
            if let Some(live) = self.live_object(destination, object)? {
                let (target, live) = (Some(live.clone()), Some(live));
                let object = object.clone();
                found.push(ManagedResource {
                    object,
                    target,
                    live,
                    is_only_live: true,
                    ..ManagedResource::default()
                });
            }
        }
        Ok(found)
    }

    fn live_object(
        &self,
        destination: &Destination,
        object: &ObjectRef,
    ) -> Result<Option<Value>, Trouble> {
        let namespace = match object.namespace.as_str() {
            "" => destination.namespace.as_str(),
            named => named,
        };
        let client = self.connection.client().clone();
        let api: Api<DynamicObject> = match self.bounded(self.resource_of(object)) {
            Ok((kind, true)) => Api::namespaced_with(client, namespace, &kind),
            Ok((kind, false)) => Api::all_with(client, &kind),
            // Who is not told which kinds there are does not know that an object is missing.
            Err(Trouble::NotFound { .. }) => {
                let what = format!("which kinds there are, {} among them", object.kind);
                return Err(Trouble::NotServed { what });
            }
            Err(error) => return Err(error),
        };
        match self.bounded(api.get_opt(&object.name)) {
            Ok(Some(live)) => Ok(serde_json::to_value(live).ok()),
            Ok(None) | Err(Trouble::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The resource of a kind, and whether it has namespaces.
    async fn resource_of(&self, object: &ObjectRef) -> Result<(ApiResource, bool), kube::Error> {
        let group = kube::discovery::group(self.connection.client(), &object.group).await?;
        let missing = kube::error::DiscoveryError::MissingKind(object.kind.clone());
        let (resource, capabilities) =
            group.recommended_kind(&object.kind).ok_or(kube::Error::Discovery(missing))?;
        Ok((resource, capabilities.scope == kube::discovery::Scope::Namespaced))
    }
}
