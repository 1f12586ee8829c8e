//! Certificates made by openssl, and its verdict about them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{runs, skip};

/// A folder in which openssl makes keys and certificates: `NAME.key`, `NAME.crt`.
pub(super) struct Pki {
    dir: tempfile::TempDir,
}

/// What openssl says: whether it takes the chain, and its errors as numbers with depths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) is_ok: bool,
    pub(super) errors: Vec<(u32, usize)>,
    pub(super) words: String,
}

pub(super) const CA: &str = "basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign,cRLSign";
pub(super) const LEAF: &str = "basicConstraints=CA:FALSE\nsubjectAltName=DNS:identity.mesh.svc";

impl Pki {
    /// `None`, said loudly, without openssl.
    pub(super) fn new() -> Option<Self> {
        if !runs("openssl", &["version"]) {
            skip("no openssl");
            return None;
        }
        Some(Self { dir: tempfile::tempdir().unwrap() })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new("openssl").args(args).current_dir(self.dir.path()).output().unwrap()
    }

    /// Runs openssl, which must succeed.
    pub(super) fn openssl(&self, args: &[&str]) {
        let output = self.run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {args:?}: {stderr}");
    }

    /// What openssl prints.
    pub(super) fn said(&self, args: &[&str]) -> String {
        String::from_utf8_lossy(&self.run(args).stdout).into_owned()
    }

    /// A key; `kind` is what `openssl genpkey -algorithm` takes, then its options.
    pub(super) fn key(&self, name: &str, kind: &[&str]) {
        let file = format!("{name}.key");
        if !self.path(&file).exists() {
            self.openssl(&[&["genpkey", "-quiet", "-out", &file, "-algorithm"][..], kind].concat());
        }
    }

    fn default_key(&self, name: &str) {
        self.key(name, &["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]);
    }

    /// A request for `subject` with the key of that name, and the certificate that `issuer` (or the key itself) makes of it.
    /// Without `extensions` it is one of version 1.
    pub(super) fn certificate(&self, name: &str, wish: &Wish<'_>) {
        assert!(self.try_certificate(name, wish), "{name}: openssl does not make it");
    }

    /// The same, and whether openssl makes such a one.
    pub(super) fn try_certificate(&self, name: &str, wish: &Wish<'_>) -> bool {
        let key = wish.key.unwrap_or(name);
        self.default_key(key);
        let (key, request) = (format!("{key}.key"), format!("{name}.csr"));
        self.openssl(&[
            "req",
            "-new",
            "-key",
            &key,
            "-utf8",
            "-subj",
            wish.subject,
            "-out",
            &request,
        ]);
        let (days, serial) = (wish.days.to_string(), wish.serial.to_string());
        let certificate = format!("{name}.crt");
        let mut args = vec!["x509", "-req", "-in", &request, "-out", &certificate];
        args.extend(["-days", &days, "-set_serial", &serial, wish.hash]);
        self.write("extensions", wish.extensions);
        if !wish.extensions.is_empty() {
            args.extend(["-extfile", "extensions"]);
        }
        let issuer =
            wish.by.map(|by| (format!("{by}.crt"), format!("{}.key", wish.by_key.unwrap_or(by))));
        match &issuer {
            Some((crt, key)) => args.extend(["-CA", crt.as_str(), "-CAkey", key]),
            None => args.extend(["-signkey", &key]),
        }
        self.run(&args).status.success()
    }

    /// `root.crt`, and `leaf.crt` signed by it.
    pub(super) fn simple(&self) {
        self.certificate("root", &Wish::root("/CN=root"));
        self.certificate("leaf", &Wish::leaf("/CN=leaf", "root"));
    }

    /// A file of these certificates, in order.
    pub(super) fn bundle(&self, file: &str, names: &[&str]) {
        let texts: Vec<String> =
            names.iter().map(|name| self.read(&format!("{name}.crt"))).collect();
        self.write(file, &texts.concat());
    }

    /// `openssl verify -no-CApath -no-CAstore -CAfile ca -untrusted leaf leaf` at a time.
    pub(super) fn verify(&self, ca: &str, leaf: &str, at: i64) -> Said {
        let at = at.to_string();
        let output = self.run(&[
            "verify",
            "-no-CApath",
            "-no-CAstore",
            "-attime",
            &at,
            "-CAfile",
            ca,
            "-untrusted",
            leaf,
            leaf,
        ]);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        let errors = words.lines().filter_map(|line| {
            let (_, rest) = line.split_once("error ").filter(|_| line.contains(" depth lookup"))?;
            let (code, rest) = rest.split_once(" at ")?;
            let (depth, _) = rest.split_once(" depth")?;
            Some((code.trim().parse().ok()?, depth.trim().parse().ok()?))
        });
        let errors = errors.collect();
        Said { is_ok: output.status.success(), errors, words }
    }
}

/// How a certificate shall be.
#[derive(Clone, Copy)]
pub(super) struct Wish<'a> {
    pub(super) subject: &'a str,
    pub(super) extensions: &'a str,
    pub(super) by: Option<&'a str>,
    /// The key to sign with, where it is not that of `by`.
    pub(super) by_key: Option<&'a str>,
    /// Whose key it is about, where not its own.
    pub(super) key: Option<&'a str>,
    pub(super) days: u32,
    pub(super) serial: u32,
    pub(super) hash: &'a str,
}

impl<'a> Wish<'a> {
    pub(super) fn root(subject: &'a str) -> Self {
        Self {
            subject,
            extensions: CA,
            by: None,
            by_key: None,
            key: None,
            days: 30,
            serial: 1,
            hash: "-sha256",
        }
    }

    pub(super) fn leaf(subject: &'a str, by: &'a str) -> Self {
        Self { extensions: LEAF, by: Some(by), serial: 2, ..Self::root(subject) }
    }

    pub(super) fn authority(subject: &'a str, by: &'a str) -> Self {
        Self { by: Some(by), serial: 3, ..Self::root(subject) }
    }

    pub(super) fn with(self, extensions: &'a str) -> Self {
        Self { extensions, ..self }
    }

    pub(super) fn days(self, days: u32) -> Self {
        Self { days, ..self }
    }
}

/// The present time.
pub(super) fn now() -> i64 {
    i64::try_from(overlay::clock::now_unix()).unwrap()
}
