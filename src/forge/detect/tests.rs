use super::*;

fn site(
    remotes: &[&str],
    variables: &[(&str, &str)],
    flags: (Option<Kind>, Option<&str>, Option<&str>),
) -> Result<Site, ForgeError> {
    let remotes: Vec<String> = remotes.iter().map(|r| (*r).to_owned()).collect();
    let variable = |wanted: &str| {
        let found = variables.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| (*value).to_owned())
    };
    let (kind, url, repository) = flags;
    detect(&Wanted { kind, url, repository, remotes: &remotes, variable: &variable })
}

const TOKEN: (&str, &str) = ("GITHUB_TOKEN", "ghp_planted");
const NO_FLAGS: (Option<Kind>, Option<&str>, Option<&str>) = (None, None, None);

#[test]
fn remotes_of_github_say_the_repository() {
    for remote in [
        "https://github.com/ops/deploy.git",
        "https://github.com/ops/deploy",
        "git@github.com:ops/deploy.git",
        "ssh://git@github.com/ops/deploy.git",
        "ssh://git@ssh.github.com:443/ops/deploy.git",
        "https://GitHub.com/ops/deploy/",
    ] {
        // A job of another repository has that one in its environment.
        let found = site(&[remote], &[TOKEN, ("GITHUB_REPOSITORY", "ops/app")], NO_FLAGS);
        let found = found.unwrap_or_else(|e| panic!("{remote}: {e}"));
        assert_eq!((found.api.as_str(), found.host.as_str()), (DEFAULT_GITHUB_API, "github.com"));
        assert_eq!(found.repository.to_string(), "ops/deploy", "{remote}");
    }
}

#[test]
fn the_environment_says_it_where_the_remote_cannot() {
    let job = [
        TOKEN,
        ("GITHUB_API_URL", "http://127.0.0.1:9/api/v3"),
        ("GITHUB_REPOSITORY", "ops/deploy"),
    ];
    for remote in ["/srv/hub.git", "file:///srv/hub.git", "http://127.0.0.1:8/hub.git"] {
        let found = site(&[remote], &job, NO_FLAGS).unwrap();
        assert_eq!(found.repository.to_string(), "ops/deploy");
        assert_eq!(found.api, "http://127.0.0.1:9/api/v3");
    }
    let enterprise = [TOKEN, ("GITHUB_API_URL", "https://ghe.test/api/v3")];
    let found = site(&["git@ghe.test:ops/deploy.git"], &enterprise, NO_FLAGS).unwrap();
    assert_eq!((found.host.as_str(), found.kind), ("ghe.test", Kind::GitHub));
}

#[test]
fn a_credential_goes_to_no_host_that_nobody_named() {
    // The remote is elsewhere: neither GitHub's token nor the job's API is meant.
    for variables in [
        vec![TOKEN],
        vec![TOKEN, ("GITHUB_API_URL", "https://api.github.com")],
        vec![TOKEN, ("GITHUB_REPOSITORY", "ops/app")],
        vec![TOKEN, ("GITEA_TOKEN", "x")],
    ] {
        let error = site(&["https://evil.test/ops/deploy.git"], &variables, NO_FLAGS);
        assert!(matches!(error, Err(ForgeError::UnknownForge { .. })), "{variables:?} {error:?}");
    }
    let flags = (Some(Kind::GitHub), Some("http://evil.test/api/v3"), None);
    assert!(matches!(
        site(&["https://evil.test/a/b"], &[TOKEN], flags),
        Err(ForgeError::Malformed { .. })
    ));
}

#[test]
fn flags_come_first() {
    let flags = (Some(Kind::Gitea), Some("https://git.test"), Some("team/deploy"));
    let variables = [TOKEN, ("GITEA_TOKEN", "tok")];
    let found = site(&["https://git.test/me/deploy.git"], &variables, flags).unwrap();
    assert_eq!(found.api, "https://git.test/api/v1");
    // The branch is pushed to a fork.
    assert_eq!(found.repository.to_string(), "team/deploy");
    assert_eq!(found.head.to_string(), "me/deploy");
    assert_eq!(found.credential, Credential::Token(Secret::new("tok")));
}

#[test]
fn jobs_of_gitea_look_like_those_of_github() {
    let job = [
        TOKEN,
        ("GITEA_ACTIONS", "true"),
        ("GITHUB_API_URL", "https://git.test/api/v1"),
        ("GITHUB_REPOSITORY", "ops/deploy"),
    ];
    let found = site(&["https://git.test/ops/deploy"], &job, NO_FLAGS).unwrap();
    assert_eq!((found.kind, found.api.as_str()), (Kind::Gitea, "https://git.test/api/v1"));
    // Outside of such a job GitHub's token is not Gitea's.
    let outside = [TOKEN, ("GITEA_SERVER_URL", "https://git.test")];
    let found = site(&["https://git.test/ops/deploy"], &outside, NO_FLAGS);
    assert!(matches!(found, Err(ForgeError::NoCredential { .. })));
}

#[test]
fn names_of_repositories_are_two_words() {
    for text in ["", "ops", "ops/", "/deploy", "a/b/c", "../x", "a/..", "a b/c", "ops/de?x"] {
        assert_eq!(RepositoryName::parse(text), None, "{text}");
    }
    assert!(RepositoryName::parse("Ops/de.ploy_2").unwrap().is("ops/DE.ploy_2"));
}

#[test]
fn gitlab_is_known_by_its_host_its_job_and_its_command_line() {
    let token = ("GITLAB_TOKEN", "glpat-x");
    let found = site(&["git@gitlab.com:ops/team/deploy.git"], &[token], NO_FLAGS).unwrap();
    assert_eq!((found.kind, found.api.as_str()), (Kind::GitLab, "https://gitlab.com/api/v4"));
    assert_eq!(found.repository.to_string(), "ops/team/deploy");
    for (name, value) in [
        ("CI_API_V4_URL", "https://git.test/api/v4"),
        ("GITLAB_HOST", "git.test"),
        ("GITLAB_HOST", "https://git.test/"),
    ] {
        let found = site(&["https://git.test/a/b/c.git"], &[token, (name, value)], NO_FLAGS);
        let found = found.unwrap();
        assert_eq!((found.kind, found.api.as_str()), (Kind::GitLab, "https://git.test/api/v4"));
        assert_eq!(
            (found.repository.to_string(), found.host.as_str()),
            ("a/b/c".into(), "git.test")
        );
    }
    // Its token goes to no other host, and no other token to it.
    let elsewhere =
        site(&["https://evil.test/a/b"], &[token, ("GITLAB_HOST", "git.test")], NO_FLAGS);
    assert!(matches!(elsewhere, Err(ForgeError::UnknownForge { .. })), "{elsewhere:?}");
    let other = site(&["https://gitlab.com/a/b"], &[TOKEN], NO_FLAGS);
    assert!(matches!(other, Err(ForgeError::NoCredential { .. })), "{other:?}");
    // Elsewhere an owner is one word.
    let nested = site(&["https://github.com/a/b/c"], &[TOKEN], NO_FLAGS);
    assert!(matches!(nested, Err(ForgeError::NoRepository { .. })), "{nested:?}");
}
