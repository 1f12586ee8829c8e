//! What to do about what was found.

use super::{Side, TrustReport};
use crate::shell;
use crate::trust::chain::{Link, Reason};
use crate::trust::rotation::ReaderState;
use crate::trust::{Certificate, Finding};

impl TrustReport<'_> {
    /// What to do, in the order in which it works: a restart alone would bring up what is still not trusted.
    pub(super) fn remedy(&self, findings: &[Finding]) -> Vec<String> {
        let is_trusted_anew = self.rootless_authority().is_some();
        let mut steps = self.mending(findings);
        let is_presented_anew = steps.len() > usize::from(is_trusted_anew);
        steps.extend(self.restarts(Side::Server, is_presented_anew, "serves it"));
        steps.extend(self.restarts(Side::Authority, is_trusted_anew, "trusts it"));
        steps
    }

    /// What mends what is presented, by the fault: most faults are not mended by another leaf.
    fn mending(&self, findings: &[Finding]) -> Vec<String> {
        let has = |id: &str| findings.iter().any(|finding| finding.id == id);
        // The first of the file was judged: of the leaf nothing is known before it stands there.
        if has("leaf-not-first") {
            return vec![self.reordering()];
        }
        if !has("chain-refused") {
            return match (has("host-mismatch"), has("key-mismatch")) {
                (true, _) => vec![self.issuing("for that host, ")],
                (false, true) => vec![self.pairing()],
                (false, false) => Vec::new(),
            };
        }
        let problem = self.judgement.openssl.problems.first();
        let link = problem.and_then(|problem| self.judgement.openssl.chain.get(problem.depth));
        if let Some(missing) = self.missing_authority() {
            let mut steps = vec![match self.rootless_authority() {
                Some(authority) => format!(
                    "add {missing}, which issued {authority}, to {}: openssl trusts a chain only up to a self-signed certificate among the authorities; then look again",
                    self.ca
                ),
                None => format!(
                    "send {missing} along, behind what it issued in {}; where it is a root, add it to what clients trust, or issue the leaf from an authority that they trust; then look again",
                    self.leaf
                ),
            }];
            if has("host-mismatch") {
                steps.push(self.issuing("for that host, "));
            } else if has("key-mismatch") {
                steps.push(self.pairing());
            }
            return steps;
        }
        let mut steps = Vec::new();
        let is_authority = |link: &&Link<'_>| {
            let is_above = problem.is_some_and(|problem| problem.depth > 0);
            let is_stranger =
                problem.is_some_and(|problem| problem.reason == Reason::SelfSignedCertInChain);
            link.is_trusted || (is_above && !is_stranger)
        };
        if let Some(link) = link.filter(is_authority) {
            let authority = &link.certificate.subject.text;
            steps.push(format!(
                "renew the authority {authority}: as it is, nothing it signs is trusted"
            ));
        }
        steps.push(self.issuing(""));
        steps
    }

    /// The issuer that nobody has given, where its name is of no certificate that is here: a new leaf would miss it again.
    fn missing_authority(&self) -> Option<&str> {
        let problem = self.judgement.openssl.problems.first()?;
        let is_missing = matches!(
            problem.reason,
            Reason::UnableToGetIssuerCert | Reason::UnableToGetIssuerCertLocally
        );
        let child = self.judgement.openssl.chain.get(problem.depth)?.certificate;
        let has_name = |other: &Certificate| {
            other.subject.canonical == child.issuer.canonical && other.der != child.der
        };
        let is_here = self.authorities.iter().chain(self.presented).any(has_name);
        (is_missing && !is_here).then_some(child.issuer.text.as_str())
    }

    /// The trusted certificate that another one issued, which nobody has given: what is presented can lead no further.
    fn rootless_authority(&self) -> Option<&str> {
        self.missing_authority()?;
        let problem = self.judgement.openssl.problems.first()?;
        let link = self.judgement.openssl.chain.get(problem.depth)?;
        link.is_trusted.then_some(link.certificate.subject.text.as_str())
    }

    fn issuing(&self, what_for: &str) -> String {
        match &self.leaf_secret {
            Some((namespace, name)) => format!(
                "issue the leaf anew {what_for}from the present authority: with cert-manager `kubectl -n {} delete secret {}`, then look again",
                shell::word(namespace),
                shell::word(name)
            ),
            None => {
                format!("issue the leaf anew {what_for}from the present authority, then look again")
            }
        }
    }

    fn pairing(&self) -> String {
        let key = "put the private key beside the leaf that it was made with, or the leaf beside its key; where neither is left";
        format!("{key}, {}", self.issuing(""))
    }

    /// The leaf, and then each certificate by the one that issued it.
    fn reordering(&self) -> String {
        let is_issuer = |one: &Certificate| {
            let mut others = self.presented.iter();
            others.any(|other| {
                other.der != one.der && other.issuer.canonical == one.subject.canonical
            })
        };
        let leaf = self.presented.iter().find(|one| !is_issuer(one));
        let leaf = leaf.map(|leaf| format!(" ({})", leaf.subject.text)).unwrap_or_default();
        format!(
            "put the leaf{leaf} first in {}, and behind it each authority after the one that it issued; then look again",
            self.leaf
        )
    }

    /// To start anew what reads the Secret of that side: what has an old value of it, or `all`. Git restarts some kinds, others start
    /// again in ways of their own.
    fn restarts(&self, side: Side, all: bool, what: &str) -> Vec<String> {
        let owners = self.to_restart(side, all);
        let is_for_git = |owner: &String| {
            ["Deployment/", "StatefulSet/", "DaemonSet/"].iter().any(|kind| owner.starts_with(kind))
        };
        let (by_git, others): (Vec<String>, Vec<String>) = owners.into_iter().partition(is_for_git);
        let overlay = self.overlay.as_deref().unwrap_or("OVERLAY");
        let mut steps = Vec::new();
        if !by_git.is_empty() {
            let names: Vec<&str> = by_git.iter().map(String::as_str).collect();
            let command = shell::overlay("restart", overlay, &names);
            steps.push(format!("restart what {what} through git: `{command}`"));
        }
        if !others.is_empty() {
            let names = others.join(", ");
            steps.push(format!(
                "start anew what {what} and no restart through git reaches: {names}"
            ));
        }
        steps
    }

    fn to_restart(&self, side: Side, all: bool) -> Vec<String> {
        let states: &[ReaderState] = match all {
            true => &[ReaderState::Stale, ReaderState::Current, ReaderState::Unknown],
            false => &[ReaderState::Stale],
        };
        let readings = self.pods.iter().filter(|reading| reading.side == side);
        let mut owners: Vec<String> = readings
            .flat_map(|reading| states.iter().flat_map(|state| reading.owners(*state)))
            .collect();
        owners.sort();
        owners.dedup();
        owners
    }
}
