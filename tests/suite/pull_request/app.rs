//! A GitHub App as the credential: its key signs a token, which openssl judges, and that gets a token for the installation.

use crate::support::github::app::{App, INSTALLED};
use crate::support::{runs, skip};

use super::*;

/// A forge that knows an App, and the App's private key in several forms.
fn stage() -> Option<(Stage, Vec<String>)> {
    if !runs("openssl", &["version"]) {
        skip("no openssl");
        return None;
    }
    let stage = Stage::new(1);
    let openssl = |args: &[&str]| {
        let mut command = Command::new("openssl");
        let output = command.args(args).current_dir(stage.lab.path("")).output().unwrap();
        assert!(output.status.success(), "{args:?} {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    openssl(&[
        "genpkey",
        "-algorithm",
        "RSA",
        "-pkeyopt",
        "rsa_keygen_bits:2048",
        "-out",
        "key.pem",
    ]);
    openssl(&["pkey", "-in", "key.pem", "-pubout", "-out", "public.pem"]);
    let pkcs8 = openssl(&["pkey", "-in", "key.pem"]);
    let pkcs1 = openssl(&["rsa", "-in", "key.pem", "-traditional"]);
    assert!(pkcs1.contains("BEGIN RSA PRIVATE KEY") && pkcs8.contains("BEGIN PRIVATE KEY"));
    stage.github.install(App {
        id: "4711".into(),
        installation: 99,
        key: stage.lab.path("public.pem"),
    });
    let one_line = pkcs1.trim().replace('\n', "\\n");
    Some((stage, vec![pkcs1, pkcs8, one_line]))
}

fn run(stage: &Stage, digit: char, variables: &[(&str, &str)], more: &[&str]) -> Ran {
    let reference = pin("shop/app0", digit);
    let args = [&["pin", "overlays/prod", reference.as_str(), "--pr", "-v"], more].concat();
    let mut command = stage.command(&args);
    command.env_remove("GITHUB_TOKEN").envs(variables.iter().copied());
    let ran = stage.finish(command.output().unwrap());
    for (_, secret) in variables.iter().filter(|(name, _)| name.ends_with("KEY")) {
        let line = secret.lines().nth(1).unwrap_or(secret);
        assert!(!ran.text.contains(line), "{}", ran.text);
    }
    assert!(!ran.text.contains(INSTALLED), "{}", ran.text);
    ran
}

#[test]
fn an_app_opens_merges_and_commits() {
    let Some((stage, keys)) = stage() else { return };
    for (at, key) in keys.iter().enumerate() {
        let digit = char::from(b'2' + u8::try_from(at).unwrap());
        let mut variables =
            vec![("GITHUB_APP_ID", "4711"), ("GITHUB_APP_PRIVATE_KEY", key.as_str())];
        if at > 0 {
            variables.push(("GITHUB_APP_INSTALLATION_ID", "99"));
        }
        let more: &[&str] = if at == 2 { &["--commit-via-api", "--merge"] } else { &[] };
        let ran = run(&stage, digit, &variables, more).ok();
        assert_eq!(ran.number(), Some(1), "{}", ran.text);
        let calls: Vec<String> = stage.github.calls().into_iter().map(|call| call.path).collect();
        let asks = calls.iter().any(|path| path.ends_with("/installation"));
        assert_eq!(asks, at == 0, "the installation is looked for where none is named: {calls:?}");
        assert!(calls.iter().any(|path| path.ends_with("/access_tokens")), "{calls:?}");
    }
    assert!(stage.git(&["show", &format!("main:{PROD}")]).contains(&digest('4')));
}

#[test]
fn a_key_that_is_not_the_apps_does_not_let_in() {
    let Some((stage, keys)) = stage() else { return };
    let key = keys[0].as_str();
    let ran = run(&stage, '2', &[("GITHUB_APP_ID", "4712"), ("GITHUB_APP_PRIVATE_KEY", key)], &[]);
    assert_eq!((ran.status, ran.code()), (5, "forge-authentication"), "{}", ran.text);
    let Some((_, others)) = self::stage() else { return };
    let other = others[1].as_str();
    let ran =
        run(&stage, '2', &[("GITHUB_APP_ID", "4711"), ("GITHUB_APP_PRIVATE_KEY", other)], &[]);
    assert_eq!((ran.status, ran.code()), (5, "forge-authentication"), "{}", ran.text);
    let broken = key.replace("MII", "XII");
    let ran =
        run(&stage, '2', &[("GITHUB_APP_ID", "4711"), ("GITHUB_APP_PRIVATE_KEY", &broken)], &[]);
    assert_eq!((ran.status, ran.code()), (4, "forge-credential"), "{}", ran.text);
    assert_eq!(stage.git(&["branch", "--list"]), "* main", "nothing was pushed");
}
