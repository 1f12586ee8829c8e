//! Random small worlds of certificates: for each CA file, chain file and time our verdict is openssl's, error for error, and
//! that about clients on rustls is what such a client does.

use overlay::trust::{Certificate, chain, clients, read_certificates};

use super::handshake;
use super::pki::{Pki, Wish, now};
use crate::support::random::Random;

const SUBJECTS: [&str; 6] = ["/CN=A", "/CN=a", "/O=x/CN=B", "/CN=C", "/CN=host.mesh.svc", "/CN=D"];
const BASIC: [&str; 7] = [
    "basicConstraints=critical,CA:TRUE",
    "basicConstraints=critical,CA:TRUE",
    "basicConstraints=CA:TRUE,pathlen:0",
    "basicConstraints=CA:TRUE,pathlen:1",
    "basicConstraints=CA:FALSE",
    "",
    "nsCertType=sslCA",
];
const USAGE: [&str; 6] = [
    "",
    "",
    "",
    "keyUsage=keyCertSign",
    "keyUsage=digitalSignature",
    "keyUsage=critical,keyCertSign,cRLSign",
];
const IDENTIFIERS: [&str; 5] = [
    "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid",
    "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid,issuer:always",
    "authorityKeyIdentifier=issuer:always",
    "subjectKeyIdentifier=hash",
    "subjectKeyIdentifier=none\nauthorityKeyIdentifier=none",
];
const MORE: [&str; 9] = [
    "",
    "",
    "",
    "",
    "subjectAltName=DNS:host.mesh.svc",
    "extendedKeyUsage=clientAuth",
    "nameConstraints=permitted;DNS:mesh.svc",
    "nameConstraints=excluded;DNS:mesh.svc",
    "1.2.3.4=critical,ASN1:UTF8String:x",
];

/// The host that clients ask for.
const HOST: &str = "host.mesh.svc";

/// A certificate of the pool: which one made it, and with which key.
struct Made {
    key: String,
    parent: Option<usize>,
}

fn make_pool(pki: &Pki, dice: &mut Random, size: usize) -> Vec<Made> {
    let mut pool: Vec<Made> = Vec::new();
    for at in 0..size {
        let key = format!("k{}", dice.below(6));
        let parent = (at > 2 && dice.chance(75)).then(|| dice.below(at));
        let subject = *dice.pick(&SUBJECTS);
        let parts =
            [*dice.pick(&BASIC), *dice.pick(&USAGE), *dice.pick(&IDENTIFIERS), *dice.pick(&MORE)];
        let extensions = if dice.chance(8) { String::new() } else { parts.join("\n") };
        let extensions = extensions.trim().to_owned();
        let by = parent.map(|parent| format!("c{parent}"));
        let by_key = parent.map(|parent| pool[parent].key.clone());
        let wish = Wish {
            subject,
            extensions: &extensions,
            by: by.as_deref(),
            by_key: by_key.as_deref(),
            key: Some(&key),
            days: [1, 5, 30][dice.below(3)],
            serial: u32::try_from(1 + dice.below(3)).unwrap(),
            hash: "-sha256",
        };
        let name = format!("c{at}");
        // An issuer without a name for its key cannot be spoken of by it.
        if !pki.try_certificate(&name, &wish) {
            pki.certificate(&name, &wish.with(parts[0]));
        }
        pool.push(Made { key, parent });
    }
    pool
}

/// A chain file: mostly a certificate and those above it, with some left out, added or moved.
fn pick(dice: &mut Random, pool: &[Made]) -> (Vec<String>, Vec<String>) {
    let leaf = dice.below(pool.len());
    let mut above = vec![leaf];
    while let Some(parent) = pool[above[above.len() - 1]].parent {
        above.push(parent);
    }
    let top = above[above.len() - 1];
    let mut chain: Vec<usize> =
        above.iter().copied().filter(|at| *at == leaf || dice.chance(85)).collect();
    let mut trusted = vec![if dice.chance(80) { top } else { dice.below(pool.len()) }];
    for _ in 0..dice.below(3) {
        trusted.push(dice.below(pool.len()));
    }
    if dice.chance(25) {
        chain.push(dice.below(pool.len()));
    }
    if dice.chance(20) {
        let (a, b) = (dice.below(chain.len()), dice.below(chain.len()));
        chain.swap(a, b);
    }
    let names = |all: Vec<usize>| all.iter().map(|at| format!("c{at}")).collect();
    (names(trusted), names(chain))
}

#[test]
fn random_chains_are_judged_as_openssl_and_clients_judge_them() {
    let Some(pki) = Pki::new() else { return };
    let seed = std::env::var("OVERLAY_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let mut dice = Random::new(seed.unwrap_or(0x5eed_0001));
    let pool = make_pool(&pki, &mut dice, 70);
    let read = |file: &str| read_certificates(pki.read(file).as_bytes()).unwrap().certificates;
    let ends: Vec<i64> = (0..pool.len())
        .map(|at| read(&format!("c{at}.crt")).first().map_or(0, |one: &Certificate| one.not_after))
        .collect();
    let (mut taken, mut refused) = (0, std::collections::BTreeMap::<u32, usize>::new());
    let mut clients_said = std::collections::BTreeMap::<String, usize>::new();
    for round in 0..400 {
        let (trusted, chain_names) = pick(&mut dice, &pool);
        pki.bundle("ca.pem", &trusted.iter().map(String::as_str).collect::<Vec<_>>());
        pki.bundle("chain.pem", &chain_names.iter().map(String::as_str).collect::<Vec<_>>());
        let at = match dice.below(10) {
            0 => now() + 2 * 86_400,
            1 => now() + 6 * 86_400,
            2 => ends[dice.below(ends.len())],
            _ => now(),
        };
        let said = pki.verify("ca.pem", "chain.pem", at);
        let (roots, presented) = (read("ca.pem"), read("chain.pem"));
        let verdict = chain::judge(&roots, &presented, at);
        let ours: Vec<(u32, usize)> = verdict
            .problems
            .iter()
            .map(|problem| (problem.reason.number(), problem.depth))
            .collect();
        assert_eq!(
            (verdict.is_ok(), &ours),
            (said.is_ok, &said.errors),
            "seed {seed:?} round {round}, trusted {trusted:?}, presented {chain_names:?}: {}\n{}\n{}",
            said.words,
            pki.read("ca.pem"),
            pki.read("chain.pem"),
        );
        let leaf: usize = chain_names[0][1..].parse().unwrap();
        let key = pki.read(&format!("{}.key", pool[leaf].key));
        let client = clients::judge(&roots, &presented, Some(HOST), at).refusal;
        let theirs = handshake::refusal(&roots, &presented, &key, HOST, at);
        let is_same = match (&client, &theirs) {
            (Some(ours), Some(theirs)) => handshake::says(theirs, &ours.word),
            (ours, theirs) => ours.is_none() && theirs.is_none(),
        };
        assert!(is_same, "seed {seed:?} round {round}: {client:?}, a client: {theirs:?}");
        *clients_said.entry(client.map_or(String::new(), |refusal| refusal.word)).or_default() += 1;
        match said.errors.first() {
            None => taken += 1,
            Some((number, _)) => *refused.entry(*number).or_default() += 1,
        }
    }
    // Random as they are, they say something: many of each, for many reasons.
    assert!(taken > 40, "taken {taken}, refused {refused:?}");
    assert!(refused.len() > 5, "taken {taken}, refused {refused:?}");
    assert!(clients_said.contains_key("") && clients_said.len() > 5, "{clients_said:?}");
}
