//! Pod specs: the part of Kubernetes with the most merge keys, name references and images.

use super::objects::{IMAGES, NAMES, named, string_map};
use super::scalars;
use super::text::{Value, map, s};
use crate::random::Random;

/// A pod template.
pub(crate) fn template(random: &mut Random) -> Value {
    let mut template = Value::Map(Vec::new());
    if random.chance(60) {
        template.put("metadata", map([("labels", string_map(random))]));
    }
    if random.chance(95) {
        template.put("spec", spec(random));
    }
    template
}

/// A pod spec.
pub(crate) fn spec(random: &mut Random) -> Value {
    let mut spec = Value::Map(Vec::new());
    if random.chance(90) {
        spec.put("containers", containers(random));
    }
    for (key, percent, part) in PARTS {
        if random.chance(*percent) {
            spec.put(key, part(random));
        }
    }
    spec
}

type Part = fn(&mut Random) -> Value;

/// Fields of a pod spec, and how often they appear.
const PARTS: &[(&str, usize, Part)] = &[
    ("initContainers", 12, containers),
    ("volumes", 25, volumes),
    ("imagePullSecrets", 12, |r| Value::List((0..r.between(0, 2)).map(|_| named(r)).collect())),
    ("serviceAccountName", 20, |r| s(r.word(NAMES))),
    ("priorityClassName", 6, |r| s(r.word(NAMES))),
    ("tolerations", 8, |r| Value::List((0..r.between(1, 2)).map(|_| toleration(r)).collect())),
    ("hostAliases", 6, |r| Value::List((0..r.between(1, 2)).map(|_| host_alias(r)).collect())),
    ("topologySpreadConstraints", 8, |r| {
        Value::List((0..r.between(1, 2)).map(|_| spread(r)).collect())
    }),
    ("affinity", 6, affinity),
    ("nodeSelector", 8, |r| string_map(r)),
    ("ephemeralContainers", 3, containers),
    ("restartPolicy", 10, |r| s(r.word(&["Always", "Never"]))),
    ("terminationGracePeriodSeconds", 5, scalars::any),
];

/// A list of one to three containers; the names repeat from object to patch.
pub(crate) fn containers(random: &mut Random) -> Value {
    let mut names = vec!["a", "b", "c"];
    let mut list = Vec::new();
    for _ in 0..random.between(1, 3) {
        let name = names.remove(random.below(names.len()));
        list.push(container(name, random));
    }
    if random.rarely(15) {
        list.push(container("a", random));
    }
    Value::List(list)
}

fn container(name: &str, random: &mut Random) -> Value {
    let mut container = map([("name", s(name))]);
    if random.chance(80) {
        container.put("image", s(random.word(IMAGES)));
    }
    let list = |random: &mut Random, most: usize, part: Part| {
        Value::List((0..random.between(0, most)).map(|_| part(random)).collect())
    };
    if random.chance(30) {
        container.put("ports", list(random, 3, port));
    }
    if random.chance(30) {
        container.put("env", list(random, 3, env));
    }
    if random.chance(12) {
        container.put(
            "envFrom",
            list(random, 2, |r| {
                let reference = r.word(&["configMapRef", "secretRef"]);
                map([(reference.as_str(), named(r))])
            }),
        );
    }
    if random.chance(15) {
        container.put(
            "volumeMounts",
            list(random, 2, |r| {
                map([
                    ("mountPath", s(r.word(&["/a", "/b", "/$(A)"]))),
                    ("name", s(r.word(&["v", "w"]))),
                ])
            }),
        );
    }
    for key in ["command", "args"] {
        if random.chance(12) {
            container.put(key, list(random, 3, scalars::any));
        }
    }
    if random.chance(12) {
        container.put(
            "resources",
            map([("limits", map([("cpu", scalars::any(random)), ("memory", s("1Gi"))]))]),
        );
    }
    container
}

fn port(random: &mut Random) -> Value {
    let mut port = map([("containerPort", s(random.word(&["80", "81", "443", "\"80\""])))]);
    if random.chance(35) {
        port.put("protocol", s(random.word(&["TCP", "UDP"])));
    }
    if random.chance(40) {
        port.put("name", s(random.word(&["http", "x"])));
    }
    port
}

fn env(random: &mut Random) -> Value {
    let mut env = map([("name", s(random.word(&["A", "B", "C"])))]);
    match random.below(4) {
        0 => {
            let key = random.word(&["configMapKeyRef", "secretKeyRef"]);
            let mut reference = named(random);
            reference.put("key", s("k"));
            env.put("valueFrom", map([(key.as_str(), reference)]));
        }
        1 => env.put("value", s("$(A)")),
        _ => env.put("value", scalars::any(random)),
    }
    env
}

fn volumes(random: &mut Random) -> Value {
    let mut names = vec!["v", "w"];
    let mut list = Vec::new();
    for _ in 0..random.between(1, 2) {
        let mut volume = map([("name", s(names.remove(random.below(names.len()))))]);
        let (key, source) = match random.below(6) {
            0 => ("secret", map([("secretName", s(random.word(NAMES)))])),
            1 => ("persistentVolumeClaim", map([("claimName", s(random.word(NAMES)))])),
            2 => ("emptyDir", map([])),
            3 => (
                "projected",
                map([(
                    "sources",
                    Value::List(vec![
                        map([("configMap", named(random))]),
                        map([("secret", named(random))]),
                    ]),
                )]),
            ),
            4 => ("image", map([("reference", s(random.word(IMAGES)))])),
            _ => ("configMap", named(random)),
        };
        volume.put(key, source);
        list.push(volume);
    }
    Value::List(list)
}

fn toleration(random: &mut Random) -> Value {
    map([("key", s(random.word(&["a", "b"]))), ("operator", s("Exists"))])
}

fn host_alias(random: &mut Random) -> Value {
    map([
        ("ip", s(random.word(&["10.0.0.1", "10.0.0.2"]))),
        ("hostnames", Value::List(vec![s(random.word(NAMES))])),
    ])
}

fn spread(random: &mut Random) -> Value {
    let mut spread = map([("topologyKey", s(random.word(&["zone", "host"])))]);
    if random.chance(80) {
        spread.put("whenUnsatisfiable", s(random.word(&["DoNotSchedule", "ScheduleAnyway"])));
    }
    if random.chance(50) {
        spread.put("labelSelector", map([("matchLabels", string_map(random))]));
    }
    spread
}

fn affinity(random: &mut Random) -> Value {
    let term = map([
        ("labelSelector", map([("matchLabels", string_map(random))])),
        ("topologyKey", s("zone")),
    ]);
    let preferred = map([("weight", s("1")), ("podAffinityTerm", term.clone())]);
    let key = random.word(&["podAffinity", "podAntiAffinity"]);
    map([(
        key.as_str(),
        map([
            ("requiredDuringSchedulingIgnoredDuringExecution", Value::List(vec![term])),
            ("preferredDuringSchedulingIgnoredDuringExecution", Value::List(vec![preferred])),
        ]),
    )])
}
