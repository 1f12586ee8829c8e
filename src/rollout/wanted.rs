//! What there is to be, by git: the objects of a render as far as they can be compared with what runs.

use serde_json::Value;

use super::finding::{Finding, subject};
use super::images::WantedImage;
use super::live::{api_group, int_at, items_at, kind, name, namespace, text_at};
use super::workload::is_workload;
use crate::checks::Subject;
use crate::database::is_database;

/// One object that there is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its name.
    pub subject: Subject,
    /// The number of its pods, where git decides it.
    pub replicas: Option<i64>,
    /// The images of its pods.
    pub images: Vec<WantedImage>,
    /// The annotations of its pods' template.
    pub annotations: Vec<(String, String)>,
    /// The whole of it, where it is a database.
    pub database: Option<Value>,
}

/// The groups and kinds that are compared.
pub const KINDS: [(&str, &str); 7] = [
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("policy", "PodDisruptionBudget"),
    ("postgresql.cnpg.io", "Cluster"),
    ("cert-manager.io", "Certificate"),
    ("external-secrets.io", "ExternalSecret"),
];

impl Wanted {
    /// The parts of `object`, of a render or a live one, that are compared; `None` for kinds that are not.
    #[must_use]
    pub fn of(object: &Value) -> Option<Self> {
        let key = (api_group(object), kind(object));
        if !KINDS.contains(&key) {
            return None;
        }
        let (replicas, images, annotations) = match key {
            _ if is_workload(object) => (
                int_at(object, "/spec/replicas").or((key.1 != "DaemonSet").then_some(1)),
                template_images(object),
                annotations(&object["spec"]["template"]),
            ),
            (group, kind) if is_database(group, kind) => (None, database_image(object), Vec::new()),
            _ => (None, Vec::new(), Vec::new()),
        };
        let database = is_database(key.0, key.1).then(|| object.clone());
        Some(Self { subject: subject(object), replicas, images, annotations, database })
    }

    /// All of `objects` that are compared. Where an autoscaler among them owns a number, git does not; an object without
    /// namespace is in `namespace`.
    #[must_use]
    pub fn all(objects: &[Value], namespace: &str) -> Vec<Self> {
        let mut all: Vec<Self> = objects.iter().filter_map(Self::of).collect();
        for wanted in &mut all {
            if wanted.subject.namespace.is_empty() {
                namespace.clone_into(&mut wanted.subject.namespace);
            }
            let owns = |object: &Value| is_autoscaler_of(object, &wanted.subject, namespace);
            if objects.iter().any(owns) {
                wanted.replicas = None;
            }
        }
        all
    }

    /// Whether `live` is that object.
    #[must_use]
    pub fn is(&self, live: &Value) -> bool {
        kind(live) == self.subject.kind
            && name(live) == self.subject.name
            && namespace(live) == self.subject.namespace
            && api_group(live) == self.group()
    }

    /// Its API group, kind and namespace: what is read at once.
    #[must_use]
    pub fn place(&self) -> (String, String, String) {
        (self.group().to_owned(), self.subject.kind.clone(), self.subject.namespace.clone())
    }

    /// Its API group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.subject.api_version.rsplit_once('/').map_or("", |(group, _)| group)
    }

    /// Where the live object itself says something else than git. The images of containers that do are in the second list.
    #[must_use]
    pub fn differences(&self, live: &Value) -> (Vec<Finding>, Vec<&str>) {
        let mut found = Vec::new();
        let mut differs = |what: String| {
            let message = format!("the object in the cluster is not the one in git: {what}");
            found.push(Finding::about(live, "object-differs", message));
        };
        if let (Some(wanted), Some(now)) = (self.replicas, int_at(live, "/spec/replicas"))
            && wanted != now
        {
            differs(format!("{now} replicas where git says {wanted}"));
        }
        let of_live = annotations(&live["spec"]["template"]);
        for (key, value) in &self.annotations {
            match of_live.iter().find(|(known, _)| known == key) {
                Some((_, now)) if now == value => {}
                Some((_, now)) => {
                    differs(format!(
                        "annotation {key} of its pods is {now} where git says {value}"
                    ));
                }
                None => differs(format!("annotation {key} of its pods is missing")),
            }
        }
        let of_live = Self::of(live).map(|live| live.images).unwrap_or_default();
        let mut containers = Vec::new();
        for wanted in &self.images {
            let (container, image) = (&wanted.container, &wanted.image);
            let now = of_live.iter().find(|known| known.container == *container);
            let Some(now) = now.map(|now| &now.image).filter(|now| *now != image) else {
                if now.is_none() {
                    differs(format!("container {container} is missing"));
                    containers.push(container.as_str());
                }
                continue;
            };
            differs(format!("container {container} is to run {now} where git says {image}"));
            containers.push(container.as_str());
        }
        (found, containers)
    }
}

fn template_images(object: &Value) -> Vec<WantedImage> {
    let lists = ["/spec/template/spec/containers", "/spec/template/spec/initContainers"];
    let containers = lists.iter().flat_map(|pointer| items_at(object, pointer));
    let image = |container: &Value| WantedImage {
        container: text_at(container, "/name").to_owned(),
        image: text_at(container, "/image").to_owned(),
    };
    containers.map(image).filter(|wanted| !wanted.image.is_empty()).collect()
}

/// The image of a database's instances: what the operator made of its settings, where it says so.
fn database_image(object: &Value) -> Vec<WantedImage> {
    let stated = text_at(object, "/spec/imageName");
    match stated {
        "" => Vec::new(),
        image => vec![WantedImage { container: "postgres".to_owned(), image: image.to_owned() }],
    }
}

fn annotations(template: &Value) -> Vec<(String, String)> {
    let all = template["metadata"]["annotations"].as_object();
    let all = all.into_iter().flatten();
    all.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

fn is_autoscaler_of(object: &Value, subject: &Subject, default_namespace: &str) -> bool {
    let is_autoscaler = matches!(
        (api_group(object), kind(object)),
        ("autoscaling", "HorizontalPodAutoscaler") | ("keda.sh", "ScaledObject")
    );
    let target = |field: &str| text_at(object, &format!("/spec/scaleTargetRef/{field}"));
    let place = if namespace(object).is_empty() { default_namespace } else { namespace(object) };
    is_autoscaler
        && place == subject.namespace
        && target("name") == subject.name
        && matches!(target("kind"), kind if kind == subject.kind || (kind.is_empty() && subject.kind == "Deployment"))
}
