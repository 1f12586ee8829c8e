//! The table "webpki against openssl": every row with certificates that openssl makes and judges; in every row a client on
//! rustls does what is said of it.

use overlay::trust::{self, Bundle, Days, Question, read_certificates};

use super::handshake;
use super::pki::{CA, LEAF, Pki, Said, Wish, now};

/// The host that most of the leaves name.
const HOST: &str = "identity.mesh.svc";

/// What both sides say of a CA file and a chain file.
struct Case {
    openssl: Said,
    ours: (bool, Vec<(u32, usize)>),
    /// webpki's word, empty where it takes the chain.
    clients: String,
    difference: Option<String>,
    findings: Vec<&'static str>,
}

fn bundle(pki: &Pki, file: &str) -> Bundle {
    read_certificates(pki.read(file).as_bytes()).unwrap()
}

fn judge_at(pki: &Pki, ca: &[&str], chain: &[&str], at: i64) -> Case {
    pki.bundle("ca.pem", ca);
    pki.bundle("chain.pem", chain);
    let (trusted, presented) = (bundle(pki, "ca.pem"), bundle(pki, "chain.pem"));
    assert_clients_do_so(pki, &trusted, &presented, chain[0], at);
    let judgement = trust::judge(&Question {
        trusted: &trusted.certificates,
        presented: &presented.certificates,
        host: None,
        now: at,
        days: Days::Preferably(0),
        key: None,
    });
    let problems = judgement.openssl.problems.iter();
    Case {
        openssl: pki.verify("ca.pem", "chain.pem", at),
        ours: (
            judgement.openssl.is_ok(),
            problems.map(|problem| (problem.reason.number(), problem.depth)).collect(),
        ),
        clients: judgement.clients.refusal.map(|refusal| refusal.word).unwrap_or_default(),
        difference: judgement.difference,
        findings: judgement.findings.iter().map(|finding| finding.id).collect(),
    }
}

/// A client on rustls ends its handshake where we say so, for that reason, and nowhere else.
#[track_caller]
fn assert_clients_do_so(pki: &Pki, trusted: &Bundle, presented: &Bundle, leaf: &str, at: i64) {
    let (trusted, presented) = (&trusted.certificates, &presented.certificates);
    let ours = trust::clients::judge(trusted, presented, Some(HOST), at).refusal;
    let key = pki.read(&format!("{leaf}.key"));
    let theirs = handshake::refusal(trusted, presented, &key, HOST, at);
    match (&ours, &theirs) {
        (None, None) => {}
        (Some(ours), Some(theirs)) if handshake::says(theirs, &ours.word) => {}
        _ => panic!("{leaf}: we say {ours:?}, a client says {theirs:?}"),
    }
}

fn judge(pki: &Pki, ca: &[&str], chain: &[&str]) -> Case {
    judge_at(pki, ca, chain, now())
}

/// Both sides of openssl agree, on the errors too, and both verdicts are those of the table.
#[track_caller]
fn assert_row(case: &Case, openssl: bool, clients: &str) {
    assert_eq!(case.openssl.is_ok, openssl, "openssl itself: {:?}", case.openssl);
    assert_eq!(case.ours, (openssl, case.openssl.errors.clone()), "{:?}", case.openssl);
    assert_eq!(case.clients, clients);
    assert_eq!(case.difference.is_some(), openssl != clients.is_empty(), "{:?}", case.difference);
}

#[test]
fn a_normal_chain_is_taken_by_both() {
    let Some(pki) = Pki::new() else { return };
    pki.certificate("root", &Wish::root("/CN=root"));
    pki.certificate("mid", &Wish::authority("/CN=mid", "root"));
    pki.certificate("leaf", &Wish::leaf("/CN=leaf", "mid"));
    let case = judge(&pki, &["root"], &["leaf", "mid"]);
    assert_row(&case, true, "");
    assert_eq!(case.findings, [""; 0]);
    // Without the one in between: its issuer cannot be found.
    assert_row(&judge(&pki, &["root"], &["leaf"]), false, "UnknownIssuer");
    // The one in between first: that is what both judge, and openssl takes it.
    let case = judge(&pki, &["root"], &["mid", "leaf"]);
    assert_row(&case, true, "CaUsedAsEndEntity");
    assert!(case.findings.contains(&"leaf-not-first"), "{:?}", case.findings);
}

#[test]
fn names_and_purposes_are_not_looked_at_by_openssl() {
    let Some(pki) = Pki::new() else { return };
    pki.certificate("root", &Wish::root("/CN=root"));
    pki.certificate("bare", &Wish::leaf("/CN=bare", "root").with("basicConstraints=CA:FALSE"));
    let case = judge(&pki, &["root"], &["bare"]);
    assert_row(&case, true, "");
    assert_eq!(case.findings, ["no-host-names"]);
    let client = format!("{LEAF}\nextendedKeyUsage=clientAuth");
    pki.certificate("client", &Wish::leaf("/CN=client", "root").with(&client));
    let case = judge(&pki, &["root"], &["client"]);
    assert_row(&case, true, "RequiredEkuNotFound");
    assert!(case.findings.contains(&"purpose-missing"), "{:?}", case.findings);
    let limited = format!("{CA}\nextendedKeyUsage=clientAuth");
    pki.certificate("mid", &Wish::authority("/CN=mid", "root").with(&limited));
    pki.certificate("leaf", &Wish::leaf("/CN=leaf", "mid"));
    assert_row(&judge(&pki, &["root"], &["leaf", "mid"]), true, "RequiredEkuNotFound");
    let empty = format!("{LEAF}\n2.5.29.37=DER:30:00");
    pki.certificate("empty", &Wish::leaf("/CN=empty", "root").with(&empty));
    assert_row(&judge(&pki, &["root"], &["empty"]), true, "EmptyEkuExtension");
}

#[test]
fn leaves_that_are_authorities_or_their_own_issuer() {
    let Some(pki) = Pki::new() else { return };
    pki.certificate("root", &Wish::root("/CN=root"));
    pki.certificate("leaf", &Wish::authority("/CN=leaf", "root"));
    let case = judge(&pki, &["root"], &["leaf"]);
    assert_row(&case, true, "CaUsedAsEndEntity");
    assert!(case.findings.contains(&"leaf-is-authority"), "{:?}", case.findings);
    assert_row(&judge(&pki, &["root"], &["root"]), true, "CaUsedAsEndEntity");
    pki.certificate("own", &Wish::root("/CN=own").with(LEAF));
    assert_row(&judge(&pki, &["own"], &["own"]), true, "");
    assert_row(&judge(&pki, &["root"], &["own"]), false, "UnknownIssuer");
}

#[test]
fn issuers_that_are_no_authorities() {
    let Some(pki) = Pki::new() else { return };
    pki.certificate("root", &Wish::root("/CN=root"));
    for (name, extensions, clients) in [
        ("false", "basicConstraints=CA:FALSE", "EndEntityUsedAsCa"),
        ("silent", "subjectKeyIdentifier=hash", "EndEntityUsedAsCa"),
        ("unused", "basicConstraints=CA:TRUE\nkeyUsage=cRLSign", ""),
    ] {
        let subject = format!("/CN={name}");
        pki.certificate(name, &Wish::authority(&subject, "root").with(extensions));
        pki.certificate("leaf", &Wish::leaf("/CN=leaf", name));
        assert_row(&judge(&pki, &["root"], &["leaf", name]), false, clients);
    }
    // The same of a trusted one: rustls takes it as it is.
    for (name, extensions) in [
        ("root1", "basicConstraints=CA:FALSE"),
        ("root2", "basicConstraints=CA:TRUE\nkeyUsage=cRLSign"),
    ] {
        let subject = format!("/CN={name}");
        pki.certificate(name, &Wish::root(&subject).with(extensions));
        pki.certificate("leaf", &Wish::leaf("/CN=leaf", name));
        assert_row(&judge(&pki, &[name], &["leaf"]), false, "");
    }
}

#[test]
fn certificates_that_have_ended() {
    let Some(pki) = Pki::new() else { return };
    pki.certificate("root", &Wish::root("/CN=root").days(2));
    pki.certificate("leaf", &Wish::leaf("/CN=leaf", "root"));
    let day = 86_400;
    assert_row(&judge_at(&pki, &["root"], &["leaf"], now() + day), true, "");
    let case = judge_at(&pki, &["root"], &["leaf"], now() + 3 * day);
    assert_row(&case, false, "");
    assert!(case.difference.unwrap().contains("dates of a trusted certificate"));
    pki.certificate("long", &Wish::root("/CN=long"));
    pki.certificate("mid", &Wish::authority("/CN=mid", "long").days(2));
    pki.certificate("leaf", &Wish::leaf("/CN=leaf", "mid"));
    assert_row(&judge_at(&pki, &["long"], &["leaf", "mid"], now() + 3 * day), false, "CertExpired");
    // The very second, of a leaf that ends before its root.
    pki.certificate("short", &Wish::leaf("/CN=short", "long").days(5));
    let end = bundle(&pki, "short.crt").certificates[0].not_after;
    assert_row(&judge_at(&pki, &["long"], &["short"], end - 1), true, "");
    assert_row(&judge_at(&pki, &["long"], &["short"], end), false, "");
    assert_row(&judge_at(&pki, &["long"], &["short"], end + 1), false, "CertExpired");
    let start = bundle(&pki, "long.crt").certificates[0].not_before;
    let early = judge_at(&pki, &["long"], &["long"], start - 1);
    assert_row(&early, false, "CertNotValidYet");
}

#[test]
fn paths_that_are_too_long_or_end_elsewhere() {
    let Some(pki) = Pki::new() else { return };
    let zero = "basicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=keyCertSign";
    pki.certificate("root", &Wish::root("/CN=root").with(zero));
    pki.certificate("mid", &Wish::authority("/CN=mid", "root"));
    pki.certificate("leaf", &Wish::leaf("/CN=leaf", "mid"));
    assert_row(&judge(&pki, &["root"], &["leaf", "mid"]), false, "");
    // An authority that is not self-signed ends a chain for rustls alone.
    assert_row(&judge(&pki, &["mid"], &["leaf"]), false, "");
    pki.certificate("a0", &Wish::root("/CN=a0"));
    for depth in 1..=7 {
        let (name, by) = (format!("a{depth}"), format!("a{}", depth - 1));
        pki.certificate(&name, &Wish::authority(&format!("/CN={name}"), &by));
    }
    pki.certificate("far", &Wish::leaf("/CN=far", "a7"));
    let chain = ["far", "a7", "a6", "a5", "a4", "a3", "a2", "a1"];
    assert_row(&judge(&pki, &["a0"], &chain), true, "MaximumPathDepthExceeded");
    let mid = "basicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=keyCertSign";
    pki.certificate("b1", &Wish::authority("/CN=b1", "a0").with(mid));
    pki.certificate("b2", &Wish::authority("/CN=b2", "b1"));
    pki.certificate("b3", &Wish::leaf("/CN=b3", "b2"));
    let case = judge(&pki, &["a0"], &["b3", "b2", "b1"]);
    assert_row(&case, false, "PathLenConstraintViolated");
}

#[test]
fn names_of_authorities_are_compared_folded_by_openssl_alone() {
    let Some(pki) = Pki::new() else { return };
    pki.certificate("one", &Wish::root("/O=Mesh/CN=Identity CA"));
    pki.certificate("two", &Wish { key: Some("one"), ..Wish::root("/O=MESH/CN=identity  ca ") });
    pki.certificate("leaf", &Wish::leaf("/CN=leaf", "one"));
    assert_row(&judge(&pki, &["two"], &["leaf"]), true, "UnknownIssuer");
    // Other string types of the same text.
    pki.write("types", "[req]\ndistinguished_name=dn\nstring_mask=MASK:0x800\nprompt=no\n[dn]\nO=Mesh\nCN=Identity CA\n");
    pki.openssl(&[
        "req",
        "-x509",
        "-new",
        "-key",
        "one.key",
        "-config",
        "types",
        "-days",
        "30",
        "-out",
        "bmp.crt",
        "-addext",
        "basicConstraints=critical,CA:TRUE",
    ]);
    assert_row(&judge(&pki, &["bmp"], &["leaf"]), true, "UnknownIssuer");
    // The same name with another key: the authority was replaced.
    pki.certificate("other", &Wish::root("/O=Mesh/CN=Identity CA"));
    let case = judge(&pki, &["other"], &["leaf"]);
    assert_row(&case, false, "InvalidSignatureForPublicKey");
    // The same of a leaf that does not say which key signed it.
    let silent = format!("{LEAF}\nauthorityKeyIdentifier=none\nsubjectKeyIdentifier=none");
    pki.certificate("silent", &Wish::leaf("/CN=silent", "one").with(&silent));
    let case = judge(&pki, &["other"], &["silent"]);
    assert_row(&case, false, "InvalidSignatureForPublicKey");
    assert_eq!(case.ours.1, [(7, 0)]);
}

#[test]
fn what_cannot_be_understood() {
    let Some(pki) = Pki::new() else { return };
    pki.certificate("root", &Wish::root("/CN=root"));
    let critical = format!("{LEAF}\n1.2.3.4=critical,ASN1:UTF8String:x");
    pki.certificate("leaf", &Wish::leaf("/CN=leaf", "root").with(&critical));
    assert_row(&judge(&pki, &["root"], &["leaf"]), false, "UnsupportedCriticalExtension");
    pki.certificate("old", &Wish::leaf("/CN=old", "root").with(""));
    assert_row(&judge(&pki, &["root"], &["old"]), true, "UnsupportedCertVersion");
}

#[test]
fn algorithms_that_rustls_does_not_know() {
    let Some(pki) = Pki::new() else { return };
    let rsa =
        |bits: &str| ["RSA".to_owned(), "-pkeyopt".to_owned(), format!("rsa_keygen_bits:{bits}")];
    for (name, bits, hash, clients, is_weak) in [
        ("rsa1", "2048", "-sha1", "UnsupportedSignatureAlgorithm", true),
        ("rsa2", "1024", "-sha256", "InvalidSignatureForPublicKey", true),
        ("rsa3", "2048", "-sha512", "", false),
        ("rsa4", "2048", "-sha224", "UnsupportedSignatureAlgorithm", false),
    ] {
        let kind = rsa(bits);
        pki.key(name, &[&kind[0], &kind[1], &kind[2]]);
        pki.certificate(name, &Wish::root(&format!("/CN={name}")));
        pki.certificate("leaf", &Wish { hash, ..Wish::leaf("/CN=leaf", name) });
        let case = judge(&pki, &[name], &["leaf"]);
        assert_row(&case, true, clients);
        assert_eq!(
            case.findings.contains(&"weak-algorithm"),
            is_weak,
            "{name} {:?}",
            case.findings
        );
    }
    for (name, curve, hash, clients) in [
        ("p521", "P-521", "-sha512", "UnsupportedSignatureAlgorithm"),
        ("p224", "P-224", "-sha256", "UnsupportedSignatureAlgorithmForPublicKey"),
        ("k256", "secp256k1", "-sha256", "UnsupportedSignatureAlgorithmForPublicKey"),
        ("p256", "P-256", "-sha1", "UnsupportedSignatureAlgorithm"),
        ("p384", "P-384", "-sha512", "UnsupportedSignatureAlgorithm"),
        ("p3842", "P-384", "-sha384", ""),
    ] {
        pki.key(name, &["EC", "-pkeyopt", &format!("ec_paramgen_curve:{curve}")]);
        pki.certificate(name, &Wish::root(&format!("/CN={name}")));
        pki.certificate("leaf", &Wish { hash, ..Wish::leaf("/CN=leaf", name) });
        assert_row(&judge(&pki, &[name], &["leaf"]), true, clients);
        // One that another key of the same kind made is refused by both.
        let other = format!("{name}x");
        pki.key(&other, &["EC", "-pkeyopt", &format!("ec_paramgen_curve:{curve}")]);
        let forged = Wish { hash, by_key: Some(&other), ..Wish::leaf("/CN=leaf", name) };
        // openssl does not sign where key and certificate differ: a certificate of the same name with that key does it.
        pki.certificate(&other, &Wish::root(&format!("/CN={name}")));
        pki.certificate("forged", &Wish { by: Some(&other), by_key: None, ..forged });
        let case = judge(&pki, &[name], &["forged"]);
        assert!(
            !case.openssl.is_ok && case.ours == (false, case.openssl.errors.clone()),
            "{name}: {:?} {:?}",
            case.ours,
            case.openssl
        );
    }
}

#[test]
fn what_cannot_be_checked_is_said_and_not_taken() {
    let Some(pki) = Pki::new() else { return };
    pki.key("root", &["ED448"]);
    pki.openssl(&[
        "req", "-x509", "-new", "-key", "root.key", "-subj", "/CN=root", "-days", "30", "-out",
        "root.crt",
    ]);
    pki.key("leaf", &["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]);
    pki.openssl(&["req", "-new", "-key", "leaf.key", "-subj", "/CN=leaf", "-out", "leaf.csr"]);
    pki.openssl(&[
        "x509",
        "-req",
        "-in",
        "leaf.csr",
        "-CA",
        "root.crt",
        "-CAkey",
        "root.key",
        "-set_serial",
        "2",
        "-out",
        "leaf.crt",
    ]);
    let case = judge(&pki, &["root"], &["leaf"]);
    assert!(case.openssl.is_ok, "{:?}", case.openssl);
    assert_eq!(case.ours, (false, vec![(0, 0)]));
    assert_eq!(case.findings[0], "chain-unchecked");
}

#[test]
fn name_constraints_hold_as_openssl_holds_them() {
    let Some(pki) = Pki::new() else { return };
    let names = [
        "DNS:a.mesh.svc",
        "DNS:badmesh.svc",
        "email:me@mesh.svc",
        "IP:10.1.2.3",
        "IP:11.1.2.3",
        "URI:https://a.mesh.svc/x",
        "dirName:dir",
        "DNS:A.MESH.SVC",
    ];
    let limits = [
        "permitted;DNS:mesh.svc",
        "permitted;DNS:.mesh.svc",
        "excluded;DNS:mesh.svc",
        "permitted;email:mesh.svc",
        "excluded;IP:10.0.0.0/255.0.0.0",
        "permitted;IP:10.0.0.0/255.0.0.0",
        "permitted;URI:.mesh.svc",
        "permitted;dirName:dir",
        "excluded;dirName:dir",
    ];
    pki.certificate("root", &Wish::root("/CN=root"));
    let dir = "[dir]\nO=Mesh\n";
    for (at, name) in names.iter().enumerate() {
        let text = format!("basicConstraints=CA:FALSE\nsubjectAltName={name}\n{dir}");
        // The issuer is a stand-in: each constrained authority below has the same name and key.
        pki.certificate("mid", &Wish::authority("/CN=mid", "root"));
        pki.certificate(
            &format!("leaf{at}"),
            &Wish::leaf("/O=mesh/CN=host.mesh.svc", "mid").with(&text),
        );
    }
    pki.certificate(
        "leaf8",
        &Wish::leaf("/CN=evil.example", "mid").with("basicConstraints=CA:FALSE"),
    );
    let mut refused = 0;
    for limit in limits {
        let text = format!("{CA}\nnameConstraints={limit}\n{dir}");
        pki.certificate(
            "limited",
            &Wish { key: Some("mid"), ..Wish::authority("/CN=mid", "root").with(&text) },
        );
        for at in 0..=names.len() {
            let case = judge(&pki, &["root"], &[&format!("leaf{at}"), "limited"]);
            let name = names.get(at).unwrap_or(&"common name");
            assert_eq!(
                case.ours,
                (case.openssl.is_ok, case.openssl.errors.clone()),
                "{limit} {name}: {:?}",
                case.openssl
            );
            refused += usize::from(!case.openssl.is_ok);
        }
    }
    assert!((15..70).contains(&refused), "{refused}");
}
