//! A certificate authority for a test, and a certificate of it for `localhost` and 127.0.0.1, made by openssl.

use std::path::Path;
use std::process::Command;

use super::skip;

/// A directory with `ca.crt`, `srv.crt` and `srv.key`; `None`, said loudly, without openssl.
pub(crate) fn make() -> Option<tempfile::TempDir> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("extensions"),
        "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n",
    )
    .unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    let made = [
        format!("req -x509 {key} -keyout ca.key -out ca.crt -days 30 -subj /CN=test-authority -addext basicConstraints=critical,CA:TRUE"),
        format!("req {key} -keyout srv.key -out srv.csr -subj /CN=localhost"),
        "x509 -req -in srv.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -out srv.crt -extfile extensions".to_owned(),
    ]
    .iter()
    .all(|arguments| openssl(arguments, dir.path()));
    if !made {
        skip("no openssl that makes certificates");
        return None;
    }
    Some(dir)
}

/// Whether `openssl ARGUMENTS` succeeds in that directory.
pub(crate) fn openssl(arguments: &str, dir: &Path) -> bool {
    let output = Command::new("openssl").args(arguments.split(' ')).current_dir(dir).output();
    output.is_ok_and(|output| output.status.success())
}
