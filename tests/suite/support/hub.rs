//! What every forge does with pull requests, on real branches: the repositories are bare ones that git serves at the same time, so that
//! heads, duplicates, empty pull requests, conflicts and merges are those of real commits. The dialects are `github` and others.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A pull request, as its forge keeps it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pull {
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) is_draft: bool,
    /// `None`: the fork is gone.
    pub(crate) head_repository: Option<String>,
    pub(crate) head_branch: String,
    pub(crate) base_branch: String,
    pub(crate) is_open: bool,
    /// The commit that brought it to the base branch.
    pub(crate) merged: Option<String>,
    pub(crate) labels: Vec<String>,
    pub(crate) reviewers: Vec<String>,
    pub(crate) assignees: Vec<String>,
    pub(crate) comments: Vec<String>,
    /// A reviewer agrees (`Some(true)`), or asks for changes.
    pub(crate) review: Option<bool>,
    /// It is merged by itself as soon as it may be.
    pub(crate) by_itself: Option<How>,
    /// How often it is looked at before the queue has done it.
    pub(crate) queued: Option<u32>,
    /// The newest commit while its branch was there.
    pub(crate) last_head: String,
}

/// How a pull request is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Merge,
    Squash,
    Rebase,
}

/// Why a pull request is not opened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum No {
    Head,
    Base,
    Nothing,
    Exists(u64),
}

/// How a check of a commit stands, and whether it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good,
    Bad,
    Running,
}

/// What the base branch asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) checks: Vec<String>,
    pub(crate) needs_review: bool,
    /// The branch must have what the base branch has.
    pub(crate) is_strict: bool,
    pub(crate) has_queue: bool,
    pub(crate) allows_by_itself: bool,
    /// All where none is named.
    pub(crate) methods: Vec<How>,
}

/// What stands in the way of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Clear,
    /// A check that is not required is not good.
    Doubtful,
    Conflicts,
    Draft,
    Blocked,
    Behind,
}

/// One repository with its pull requests; others, below the same folder, are its forks.
pub(crate) struct Hub {
    root: PathBuf,
    /// `OWNER/NAME`; its bare repository is `OWNER/NAME.git` below the folder.
    pub(crate) name: String,
    pub(crate) pulls: Vec<Pull>,
    pub(crate) rules: Rules,
    /// By commit.
    pub(crate) checks: Vec<(String, String, Verdict)>,
    /// Commits that it is asked for get a file that nobody asked for.
    pub(crate) spoils_commits: bool,
}

impl Hub {
    pub(crate) fn new(root: &Path, name: &str) -> Self {
        Self {
            root: root.to_owned(),
            name: name.to_owned(),
            pulls: Vec::new(),
            rules: Rules::default(),
            checks: Vec::new(),
            spoils_commits: false,
        }
    }

    pub(crate) fn owner(&self) -> &str {
        self.name.split('/').next().unwrap()
    }

    fn try_git(&self, repository: &str, args: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.args(args).current_dir(self.root.join(format!("{repository}.git")));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "Web"),
            ("GIT_AUTHOR_EMAIL", "web@forge.test"),
            ("GIT_COMMITTER_NAME", "Web"),
            ("GIT_COMMITTER_EMAIL", "web@forge.test"),
        ] {
            command.env(name, value);
        }
        command.output().unwrap()
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(&self.name, args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn branch(&self, repository: &str, branch: &str) -> Option<String> {
        let name = format!("refs/heads/{branch}");
        let output = self.try_git(repository, &["rev-parse", "--verify", "--quiet", &name]);
        let found = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        output.status.success().then_some(found)
    }

    pub(crate) fn find(&mut self, number: u64) -> Option<&mut Pull> {
        self.pulls.iter_mut().find(|pull| pull.number == number)
    }

    /// Brings the commit of a head into the repository, as forges do (`refs/pull/N/head`), and gives it.
    pub(crate) fn head(&mut self, number: u64) -> String {
        let pull = self.find(number).unwrap().clone();
        let repository = pull.head_repository.clone();
        let found = repository.as_ref().and_then(|r| self.branch(r, &pull.head_branch));
        let head = match found {
            Some(head) if pull.is_open => head,
            _ => return pull.last_head,
        };
        if let Some(fork) = repository.filter(|r| *r != self.name) {
            let from = self.root.join(format!("{fork}.git"));
            self.git(&["fetch", "-q", from.to_str().unwrap(), &head]);
        }
        self.find(number).unwrap().last_head.clone_from(&head);
        head
    }

    /// Opens a pull request, where its branches allow it.
    pub(crate) fn open(&mut self, new: Pull) -> Result<u64, No> {
        let repository = new.head_repository.clone().unwrap();
        let head = self.branch(&repository, &new.head_branch).ok_or(No::Head)?;
        let base = self.branch(&self.name, &new.base_branch).ok_or(No::Base)?;
        let same = |pull: &&Pull| {
            pull.is_open
                && pull.head_repository == new.head_repository
                && pull.head_branch == new.head_branch
                && pull.base_branch == new.base_branch
        };
        if let Some(pull) = self.pulls.iter().find(same) {
            return Err(No::Exists(pull.number));
        }
        let number = self.pulls.iter().map(|pull| pull.number).max().unwrap_or(0) + 1;
        self.pulls.push(Pull { number, is_open: true, last_head: head, ..new });
        let head = self.head(number);
        if self.git(&["rev-list", "--count", &head, "--not", &base]) == "0" {
            self.pulls.pop();
            return Err(No::Nothing);
        }
        Ok(number)
    }

    /// The commits of a pull request, oldest first.
    pub(crate) fn commits(&mut self, number: u64) -> Vec<String> {
        let head = self.head(number);
        let base = self.find(number).unwrap().base_branch.clone();
        let list = self.git(&["rev-list", "--reverse", &head, "--not", &base]);
        list.lines().map(str::to_owned).collect()
    }

    /// The tree that a merge has; `None` where there are conflicts.
    fn merged_tree(&mut self, number: u64) -> Option<String> {
        let head = self.head(number);
        let base = self.find(number).unwrap().base_branch.clone();
        let output =
            self.try_git(&self.name.clone(), &["merge-tree", "--write-tree", &base, &head]);
        let text = String::from_utf8(output.stdout).unwrap();
        output.status.success().then(|| text.lines().next().unwrap().to_owned())
    }

    pub(crate) fn is_mergeable(&mut self, number: u64) -> bool {
        self.merged_tree(number).is_some()
    }

    /// The commits up to `head` on top of `base`, by git's own rebase in a clone.
    fn rebase(&self, head: &str, base: &str) -> String {
        let clone = tempfile::tempdir().unwrap();
        let path = clone.path().to_str().unwrap();
        self.git(&["clone", "-q", "--no-checkout", ".", path]);
        for step in [vec!["checkout", "-q", head], vec!["rebase", "-q", base]] {
            self.git(&[vec!["-C", path], step].concat());
        }
        let rebased = self.git(&["-C", path, "rev-parse", "HEAD"]);
        self.git(&["fetch", "-q", path, "HEAD"]);
        rebased
    }

    /// What GitHub proposes for a squash: the message of the one commit, or the title and the subjects of several.
    fn squashed_message(&mut self, number: u64, title: &str) -> String {
        let commits = self.commits(number);
        let show = |commit: &String, form: &str| self.git(&["show", "-s", form, commit]);
        match commits.as_slice() {
            [one] => {
                let subject = show(one, "--format=%s");
                format!("{subject} (#{number})\n\n{}", show(one, "--format=%b"))
            }
            several => {
                let lines = several.iter().map(|one| format!("* {}", show(one, "--format=%s")));
                format!("{title}\n\n{}", lines.collect::<Vec<_>>().join("\n"))
            }
        }
    }

    /// Merges a pull request and gives the commit that brought it to the base branch.
    pub(crate) fn merge(&mut self, number: u64, how: How) -> Option<String> {
        let tree = self.merged_tree(number)?;
        let head = self.head(number);
        let pull = self.find(number)?.clone();
        let base = self.branch(&self.name, &pull.base_branch)?;
        let message = format!("{} (#{number})", pull.title);
        let commit = match how {
            How::Merge => {
                self.git(&["commit-tree", &tree, "-p", &base, "-p", &head, "-m", &message])
            }
            How::Squash => {
                let message = self.squashed_message(number, &message);
                self.git(&["commit-tree", &tree, "-p", &base, "-m", &message])
            }
            How::Rebase => self.rebase(&head, &base),
        };
        self.git(&["update-ref", &format!("refs/heads/{}", pull.base_branch), &commit, &base]);
        let pull = self.find(number)?;
        (pull.is_open, pull.merged) = (false, Some(commit.clone()));
        Some(commit)
    }

    /// The checks of the newest commit: name, whether it is required, how it stands. A required one that nobody began is running.
    pub(crate) fn checks_of(&mut self, number: u64) -> Vec<(String, bool, Verdict)> {
        let head = self.head(number);
        let mut all: Vec<(String, bool, Verdict)> = self
            .checks
            .iter()
            .filter(|(commit, ..)| *commit == head)
            .map(|(_, name, verdict)| (name.clone(), self.rules.checks.contains(name), *verdict))
            .collect();
        for name in &self.rules.checks {
            if !all.iter().any(|(known, ..)| known == name) {
                all.push((name.clone(), true, Verdict::Running));
            }
        }
        all
    }

    /// A check of the newest commit ends, or begins.
    pub(crate) fn check(&mut self, number: u64, name: &str, verdict: Verdict) {
        let head = self.head(number);
        self.checks.retain(|(commit, known, _)| *commit != head || known != name);
        self.checks.push((head, name.to_owned(), verdict));
    }

    pub(crate) fn way(&mut self, number: u64) -> Way {
        if !self.is_mergeable(number) {
            return Way::Conflicts;
        }
        let head = self.head(number);
        let pull = self.find(number).unwrap().clone();
        let checks = self.checks_of(number);
        let lacks = |required: bool| {
            checks.iter().any(|(_, is, verdict)| *is == required && *verdict != Verdict::Good)
        };
        let base = format!("refs/heads/{}", pull.base_branch);
        let is_ancestor = ["merge-base", "--is-ancestor", &base, &head];
        if pull.is_draft {
            Way::Draft
        } else if lacks(true) || self.rules.needs_review && pull.review != Some(true) {
            Way::Blocked
        } else if self.rules.is_strict && !self.try_git(&self.name, &is_ancestor).status.success() {
            Way::Behind
        } else if lacks(false) {
            Way::Doubtful
        } else {
            Way::Clear
        }
    }

    /// What the forge does by itself between two looks.
    pub(crate) fn work(&mut self, number: u64) {
        let pull = self.find(number).unwrap().clone();
        if !pull.is_open {
            return;
        }
        let may = matches!(self.way(number), Way::Clear | Way::Doubtful);
        match (pull.queued, pull.by_itself) {
            (Some(0), _) if may => drop(self.merge(number, How::Squash)),
            (Some(looks), _) => self.find(number).unwrap().queued = looks.checked_sub(1),
            (None, Some(_)) if may && self.rules.has_queue => {
                self.find(number).unwrap().queued = Some(1);
            }
            (None, Some(how)) if may => drop(self.merge(number, how)),
            _ => {}
        }
    }

    /// Merges on demand; the words for why not.
    pub(crate) fn merge_now(
        &mut self,
        number: u64,
        head: &str,
        how: How,
    ) -> Result<String, &'static str> {
        let methods = &self.rules.methods;
        if !methods.is_empty() && !methods.contains(&how) {
            return Err("this method is not allowed on this repository.");
        }
        if self.head(number) != head {
            return Err("Head branch was modified. Review and try the merge again.");
        }
        let is_open = self.find(number).unwrap().is_open;
        if !is_open
            || self.rules.has_queue
            || !matches!(self.way(number), Way::Clear | Way::Doubtful)
        {
            return Err("Pull Request is not mergeable");
        }
        self.merge(number, how).ok_or("Pull Request is not mergeable")
    }

    /// Merges the base branch into the branch of a pull request.
    pub(crate) fn update(&mut self, number: u64) -> Option<()> {
        let (tree, head) = (self.merged_tree(number)?, self.head(number));
        let pull = self.find(number)?.clone();
        let (base, branch) = (pull.base_branch, format!("refs/heads/{}", pull.head_branch));
        let commit = self.git(&["commit-tree", &tree, "-p", &head, "-p", &base, "-m", "update"]);
        self.git(&["update-ref", &branch, &commit, &head]);
        Some(())
    }

    /// A commit of files on a branch that is at `head`.
    pub(crate) fn commit(
        &mut self,
        branch: &str,
        head: &str,
        message: &str,
        files: &[(String, Option<Vec<u8>>)],
    ) -> Option<String> {
        if self.branch(&self.name.clone(), branch)? != head {
            return None;
        }
        let index = tempfile::tempdir().unwrap();
        let index = index.path().join("index");
        let with_index = |args: &[&str], input: Option<&[u8]>| {
            use std::io::Write as _;
            let mut command = Command::new("git");
            command.args(args).current_dir(self.root.join(format!("{}.git", self.name)));
            command.env("GIT_INDEX_FILE", &index).env("GIT_CONFIG_GLOBAL", "/dev/null");
            command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(input.unwrap_or_default()).unwrap();
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{args:?}");
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        with_index(&["read-tree", head], None);
        for (path, content) in files {
            match content {
                None => drop(with_index(&["update-index", "--force-remove", path], None)),
                Some(content) => {
                    let blob = with_index(&["hash-object", "-w", "--stdin"], Some(content));
                    let listed = with_index(&["ls-files", "-s", "--", path], None);
                    let mode =
                        listed.split(' ').next().filter(|m| !m.is_empty()).unwrap_or("100644");
                    let entry = format!("{mode},{blob},{path}");
                    with_index(&["update-index", "--add", "--cacheinfo", &entry], None);
                }
            }
        }
        if self.spoils_commits {
            let blob = with_index(&["hash-object", "-w", "--stdin"], Some(b"x"));
            with_index(
                &["update-index", "--add", "--cacheinfo", &format!("100644,{blob},EXTRA")],
                None,
            );
        }
        let tree = with_index(&["write-tree"], None);
        let commit = self.git(&["commit-tree", &tree, "-p", head, "-m", message]);
        self.git(&["update-ref", &format!("refs/heads/{branch}"), &commit, head]);
        Some(commit)
    }
}
