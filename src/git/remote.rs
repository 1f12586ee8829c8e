//! A remote repository: what it holds, fetching from it and pushing to it, all by the git program.

mod failure;
mod fetch;
mod push;

use std::time::Duration;

use super::call::{Answer, Call};
use super::credentials::Address;
use super::error::GitError;
use super::id::ObjectId;
use super::program::{Git, Settings};

/// The transports that may be used; git has others that run programs.
const PROTOCOLS: &str = "file:git:http:https:ssh";

/// How long a server may say nothing over HTTP, however long a call may take: git's own servers say that they are alive each 5 seconds.
const MOST_SILENCE: Duration = Duration::from_secs(30);

/// A remote of one repository.
pub struct Remote<'a> {
    git: &'a Git,
    /// What git is given: the name of a configured remote, or an address without credentials.
    target: String,
    /// For people, without credentials.
    shown: String,
    /// Where pushes go, without credentials: as configured, and as git's own rewriting makes of it.
    addresses: Vec<String>,
    /// Settings handed over in the environment, where no list of processes shows them.
    config: Vec<(String, String)>,
    variables: Vec<(&'static str, String)>,
}

/// The references of a remote that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advertised {
    /// Full names and values, in the remote's order; an annotated tag also as `NAME^{}`.
    pub references: Vec<(String, ObjectId)>,
    /// The branch that `HEAD` stands for.
    pub head: Option<String>,
}

impl Advertised {
    /// The value of a reference by its full name.
    pub fn find(&self, name: &str) -> Option<ObjectId> {
        self.references.iter().find(|(found, _)| found == name).map(|(_, id)| *id)
    }
}

/// Whether the settings of git know a remote of this name.
fn is_configured(git: &Git, name: &str) -> Result<bool, GitError> {
    let answer = git.run(["config", "--get", &format!("remote.{name}.url")]).answer()?;
    Ok(answer.is_success && !answer.stdout.is_empty())
}

impl<'a> Remote<'a> {
    /// The remote of this configured name or address.
    ///
    /// # Errors
    /// [`GitError::BadRemote`] where it is neither, or an address that would run a program.
    pub fn open(git: &'a Git, name_or_address: &str) -> Result<Self, GitError> {
        git.version()?;
        let given = Address::parse(name_or_address);
        let wrong = |reason: &str| GitError::BadRemote {
            remote: git.scrub(&given.clean),
            reason: reason.to_owned(),
        };
        if name_or_address.is_empty()
            || name_or_address.starts_with('-')
            || name_or_address.contains(['\0', '\n', '\r'])
        {
            return Err(wrong("neither a name nor an address"));
        }
        // An address with credentials is no name, and must not stand in an argument list.
        let is_configured = given.clean == name_or_address && is_configured(git, name_or_address)?;
        if !is_configured && !is_address(name_or_address) {
            return Err(wrong("no remote of this name is configured, and it is no address"));
        }
        let mut remote = Self {
            git,
            target: name_or_address.to_owned(),
            shown: String::new(),
            addresses: Vec::new(),
            config: Vec::new(),
            variables: Vec::new(),
        };
        if is_configured {
            remote.hide_configured(name_or_address)?;
            remote.shown = name_or_address.to_owned();
        } else {
            remote.hide(name_or_address, &given);
            remote.target.clone_from(&given.clean);
            remote.hide_expanded(&given.clean)?;
            remote.shown = git.scrub(&given.clean);
        }
        remote.choose_ssh()?;
        Ok(remote)
    }

    /// Its name or address, without credentials.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Where pushes go, without credentials: as configured, then as git's own rewriting makes of it.
    pub fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// What git is given for it.
    pub(super) fn target(&self) -> &str {
        &self.target
    }

    /// The settings of git with what lets it in at this remote, for calls that reach it by themselves.
    pub(super) fn settings(&self) -> Settings {
        let mut settings = self.git.settings().clone();
        settings.extend(&self.config, &self.variables);
        settings
    }

    fn hide_configured(&mut self, name: &str) -> Result<(), GitError> {
        for (key, args) in [
            ("url", ["remote", "get-url"].as_slice()),
            ("pushurl", &["remote", "get-url", "--push"]),
        ] {
            let raw =
                self.git.run(["config", "--get", &format!("remote.{name}.{key}")]).answer()?;
            let fallback =
                self.git.run(["config", "--get", &format!("remote.{name}.url")]).answer()?;
            let raw = if raw.is_success { raw.stdout } else { fallback.stdout };
            let expanded = self.git.run(args.iter().copied()).arg("--").arg(name).answer()?.stdout;
            let text =
                |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\n').to_owned();
            let (raw, expanded) = (text(&raw), text(&expanded));
            let first = Address::parse(expanded.lines().next().unwrap_or_default());
            self.addresses = vec![Address::parse(&raw).clean, first.clean.clone()];
            self.hide(&raw, &first);
        }
        Ok(())
    }

    fn hide_expanded(&mut self, address: &str) -> Result<(), GitError> {
        let expanded = self.git.run(["ls-remote", "--get-url", "--", address]).bytes()?;
        let expanded = String::from_utf8_lossy(&expanded).trim_end_matches('\n').to_owned();
        let parsed = Address::parse(&expanded);
        self.addresses = vec![address.to_owned(), parsed.clean.clone()];
        if expanded != address {
            self.hide(address, &parsed);
        }
        Ok(())
    }

    /// Lets git go to the clean address where it would go to `raw`, and gives it the header.
    fn hide(&mut self, raw: &str, expanded: &Address) {
        let Some(access) = expanded.access() else { return };
        let rewrite = (format!("url.{}.insteadOf", expanded.clean), raw.to_owned());
        if !self.config.contains(&rewrite) {
            self.config.push(rewrite);
            self.config.extend(access.settings);
            self.variables.extend(access.variables);
        }
    }

    /// SSH asks nobody, unless the user says otherwise how it is to be called.
    fn choose_ssh(&mut self) -> Result<(), GitError> {
        let configured = self.git.run(["config", "--get", "core.sshCommand"]).answer()?;
        if !self.git.settings().has_ssh_command() && !configured.is_success {
            self.variables
                .push(("GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oConnectTimeout=20".to_owned()));
        }
        Ok(())
    }

    /// A call that reaches the remote: bounded, with the credentials where no list of processes shows them.
    pub(super) fn call<'b>(&self, git: &'b Git, args: &[&str]) -> Call<'b> {
        let limit = git.settings().network_limit;
        let silence = limit.clamp(Duration::from_secs(2), MOST_SILENCE).as_secs();
        let mut call = git
            .run(args.iter().copied())
            .config("http.lowSpeedLimit=1")
            .config(format!("http.lowSpeedTime={silence}"))
            .config("fetch.recurseSubmodules=no")
            .config("push.recurseSubmodules=no")
            .env("GIT_ALLOW_PROTOCOL", PROTOCOLS)
            .limit(limit);
        for (name, value) in &self.variables {
            call = call.env(name, value);
        }
        let before = git.settings().config_count();
        for (at, (name, value)) in self.config.iter().enumerate() {
            let at = before + at;
            call = call
                .env(&format!("GIT_CONFIG_KEY_{at}"), name)
                .env(&format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        let count = before + self.config.len();
        call.env("GIT_CONFIG_COUNT", count.to_string())
    }

    /// What it holds under these full names (all, where none is given).
    ///
    /// # Errors
    /// [`GitError::Authentication`], [`GitError::Unreachable`], [`GitError::RemoteMissing`].
    pub fn list(&self, names: &[&str]) -> Result<Advertised, GitError> {
        let mut call = self.call(self.git, &["ls-remote", "--symref", "--"]).arg(&self.target);
        for name in names {
            call = call.arg(*name);
        }
        let answer = call.answer()?;
        if !answer.is_success {
            return Err(self.classify("ls-remote", &answer));
        }
        Ok(parse_advertised(&String::from_utf8_lossy(&answer.stdout)))
    }

    /// The value of a branch (full name), or `None` where the remote has none of this name.
    ///
    /// # Errors
    /// As for [`Remote::list`].
    pub fn branch(&self, branch: &str) -> Result<Option<ObjectId>, GitError> {
        Ok(self.list(&[branch])?.find(branch))
    }

    /// The full name of its default branch.
    ///
    /// # Errors
    /// As for [`Remote::list`]; [`GitError::NoSuchReference`] where its `HEAD` leads to none.
    pub fn default_branch(&self) -> Result<String, GitError> {
        let missing = || GitError::NoSuchReference {
            remote: self.shown.clone(),
            reference: "HEAD".to_owned(),
        };
        self.list(&["HEAD"])?.head.ok_or_else(missing)
    }

    fn classify(&self, what: &str, answer: &Answer) -> GitError {
        failure::classify(&self.shown, what, answer)
    }
}

/// An address of a transport that is allowed: with a scheme, `host:path` as SSH takes it, or a path that says it is one.
pub fn is_address(text: &str) -> bool {
    if let Some((scheme, _)) = text.split_once("://") {
        return ["file", "git", "http", "https", "ssh"]
            .contains(&scheme.to_ascii_lowercase().as_str());
    }
    if text.contains("::") {
        return false;
    }
    let is_path = text.starts_with('/') || text.starts_with("./") || text.starts_with("../");
    let is_scp = text
        .split_once(':')
        .is_some_and(|(host, path)| !host.is_empty() && !host.contains('/') && !path.is_empty());
    is_path || is_scp
}

fn parse_advertised(text: &str) -> Advertised {
    let mut found = Advertised::default();
    for line in text.lines() {
        let Some((value, name)) = line.split_once('\t') else { continue };
        if let Some(target) = value.strip_prefix("ref: ") {
            if name == "HEAD" {
                found.head = Some(target.to_owned());
            }
        } else if let Ok(id) = value.parse() {
            found.references.push((name.to_owned(), id));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_run_programs_are_none() {
        for text in ["ext::sh -c id", "fd::3", "testgit::/x", "host", "ftp://host/x"] {
            assert!(!is_address(text), "{text}");
        }
        for text in ["https://h/x", "git@h:x", "/srv/x.git", "../x", "file:///x", "SSH://h/x"] {
            assert!(is_address(text), "{text}");
        }
    }
}
