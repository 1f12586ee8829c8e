//! GitHub and GitHub Enterprise, by `octocrab`. What is asked and answered is that of GitHub's published OpenAPI description;
//! the rules beyond it are named where they are used.

mod app;
mod client;
mod committing;
mod merging;
mod questions;

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::credential::Credential;
use super::read::Reader;
use super::{
    BranchCommit, Forge, ForgeError, Head, MergeMethod, NewCommit, NewPullRequest, PullRequest,
    Site, Standing, Update, is_of,
};
use crate::http::encode;
use client::{Client, Method};
use questions::Questions;

/// The most characters of a body (GitHub's own message: "body is too long (maximum is 65536 characters)").
const BODY_LIMIT: usize = 65_536;

/// The most items of a page.
const PAGE: usize = 100;

/// The most pages that are read.
const MOST_PAGES: usize = 5;

/// How often opening is tried where the answer was lost.
const MOST_OPENINGS: u32 = 3;

/// GitHub, at one repository.
pub struct GitHub {
    site: Site,
    client: Client,
    questions: Questions,
}

impl GitHub {
    /// With the credential of the site: an App gets an installation token first.
    ///
    /// # Errors
    /// Where the credential cannot be used.
    pub fn open(site: Site, allowed: Duration) -> Result<Self, ForgeError> {
        let token = match &site.credential {
            Credential::Token(token) => token.clone(),
            Credential::App(app) => app::installation_token(&site, app, allowed)?,
        };
        let client = Client::new(&site, token.clone(), allowed)?;
        let questions = Questions::new(&site, token, allowed);
        Ok(Self { site, client, questions })
    }

    /// A path below the repository.
    fn path(&self, rest: &str) -> String {
        format!("/repos/{}/{}{rest}", self.site.repository.owner, self.site.repository.name)
    }

    fn reader(&self, action: &'static str) -> Reader<'_> {
        Reader { host: &self.site.host, action }
    }

    /// Every item of a list, page by page, while `is_enough` does not say so.
    fn pages(&self, action: &'static str, query: &str) -> Result<Vec<Json>, ForgeError> {
        let mut all = Vec::new();
        for page in 1..=MOST_PAGES {
            let sign = if query.contains('?') { '&' } else { '?' };
            let path = self.path(&format!("{query}{sign}per_page={PAGE}&page={page}"));
            let answer = self.client.call(action, Method::Get, &path, None)?;
            let items = self.reader(action).list(&answer)?;
            let is_last = items.len() < PAGE;
            all.extend(items.iter().cloned());
            if is_last {
                break;
            }
        }
        Ok(all)
    }

    fn pull_requests(
        &self,
        action: &'static str,
        query: &str,
    ) -> Result<Vec<PullRequest>, ForgeError> {
        let items = self.pages(action, query)?;
        items.iter().map(|item| self.reader(action).pull_request(item)).collect()
    }

    fn find_open(&self, new: &NewPullRequest) -> Result<Option<PullRequest>, ForgeError> {
        let found = self.find(&new.head, &new.base)?;
        Ok(found.into_iter().find(|pull| pull.state == super::State::Open))
    }

    fn try_open(&self, new: &NewPullRequest) -> Result<PullRequest, ForgeError> {
        let action = "open a pull request";
        let head = match new.head.repository == self.site.repository {
            true => new.head.branch.clone(),
            false => format!("{}:{}", new.head.repository.owner, new.head.branch),
        };
        let mut body = json!({
            "title": new.title, "head": head, "base": new.base, "body": new.body, "draft": new.is_draft,
        });
        if new.head.repository.name != self.site.repository.name {
            body["head_repo"] = json!(new.head.repository.name);
        }
        let answer = self.client.call(action, Method::Post, &self.path("/pulls"), Some(&body))?;
        self.reader(action).pull_request(&answer)
    }
}

impl Forge for GitHub {
    fn site(&self) -> &Site {
        &self.site
    }

    fn body_limit(&self) -> usize {
        BODY_LIMIT
    }

    fn find(&self, head: &Head, base: &str) -> Result<Vec<PullRequest>, ForgeError> {
        let (owner, branch) = (encode(&head.repository.owner), encode(&head.branch));
        let query = format!("/pulls?state=all&head={owner}:{branch}&base={}", encode(base));
        let mut found = self.pull_requests("list pull requests", &query)?;
        found.retain(|pull| is_of(pull, head, base));
        found.sort_by_key(|pull| std::cmp::Reverse(pull.number));
        Ok(found)
    }

    fn list_open(&self, base: &str) -> Result<Vec<PullRequest>, ForgeError> {
        let query = format!("/pulls?state=open&base={}", encode(base));
        let mut found = self.pull_requests("list pull requests", &query)?;
        let repository = &self.site.repository;
        found.retain(|pull| {
            pull.base_branch == base
                && pull.head_repository.as_deref().is_some_and(|name| repository.is(name))
        });
        Ok(found)
    }

    fn open(&self, new: &NewPullRequest) -> Result<PullRequest, ForgeError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let error = match self.try_open(new) {
                Ok(opened) => return Ok(opened),
                Err(error) => error,
            };
            let message = match &error {
                ForgeError::Refused { message, .. } => message.as_str(),
                _ if error.is_ambiguous() && tries < MOST_OPENINGS => "",
                _ => return Err(error),
            };
            // The words are GitHub's own: "No commits between main and x", "A pull request already exists for ops:x."
            if message.contains("No commits between") {
                let (head, base) = (new.head.branch.clone(), new.base.clone());
                return Err(ForgeError::NothingBetween { head, base });
            }
            match self.find_open(new)? {
                Some(found) => return Ok(found),
                None if message.is_empty() => {}
                None => return Err(error),
            }
        }
    }

    fn update(&self, number: u64, update: &Update) -> Result<PullRequest, ForgeError> {
        let action = "update a pull request";
        let mut body = json!({});
        if let Some(title) = &update.title {
            body["title"] = json!(title);
        }
        if let Some(text) = &update.body {
            body["body"] = json!(text);
        }
        if update.close {
            body["state"] = json!("closed");
        }
        if update.reopen {
            body["state"] = json!("open");
        }
        let path = self.path(&format!("/pulls/{number}"));
        let answer = self.client.call(action, Method::Patch, &path, Some(&body))?;
        self.reader(action).pull_request(&answer)
    }

    fn comment(&self, number: u64, text: &str) -> Result<(), ForgeError> {
        let path = self.path(&format!("/issues/{number}/comments"));
        let body = json!({"body": text});
        self.client.call("comment", Method::Post, &path, Some(&body)).map(drop)
    }

    fn add_labels(&self, number: u64, labels: &[String]) -> Result<(), ForgeError> {
        let path = self.path(&format!("/issues/{number}/labels"));
        let body = json!({"labels": labels});
        self.client.call("add labels", Method::Post, &path, Some(&body)).map(drop)
    }

    fn request_reviews(&self, number: u64, reviewers: &[String]) -> Result<(), ForgeError> {
        let (teams, people): (Vec<&String>, Vec<_>) =
            reviewers.iter().partition(|r| r.contains('/'));
        let slugs = teams.iter().filter_map(|team| team.rsplit('/').next());
        let mut body = json!({});
        if !people.is_empty() {
            body["reviewers"] = json!(people);
        }
        if !teams.is_empty() {
            body["team_reviewers"] = json!(slugs.collect::<Vec<_>>());
        }
        let path = self.path(&format!("/pulls/{number}/requested_reviewers"));
        self.client.call("ask for reviews", Method::Post, &path, Some(&body)).map(drop)
    }

    fn add_assignees(&self, number: u64, assignees: &[String]) -> Result<(), ForgeError> {
        let path = self.path(&format!("/issues/{number}/assignees"));
        let body = json!({"assignees": assignees});
        self.client.call("assign", Method::Post, &path, Some(&body)).map(drop)
    }

    fn commits(&self, number: u64) -> Result<Vec<BranchCommit>, ForgeError> {
        let action = "list the commits of a pull request";
        let items = self.pages(action, &format!("/pulls/{number}/commits"))?;
        items.iter().map(|item| self.reader(action).commit(item)).collect()
    }

    fn standing(&self, number: u64) -> Result<Standing, ForgeError> {
        self.find_standing(number)
    }

    fn merge(&self, number: u64, head: &str, method: MergeMethod) -> Result<(), ForgeError> {
        let path = self.path(&format!("/pulls/{number}/merge"));
        let body = json!({"sha": head, "merge_method": method.word()});
        self.client.call("merge a pull request", Method::Put, &path, Some(&body)).map(drop)
    }

    fn merge_later(
        &self,
        _: u64,
        standing: &Standing,
        method: MergeMethod,
    ) -> Result<(), ForgeError> {
        self.enable_auto_merge(standing, method)
    }

    fn enqueue(&self, standing: &Standing) -> Result<(), ForgeError> {
        self.put_in_queue(standing)
    }

    fn commit(&self, new: &NewCommit) -> Result<String, ForgeError> {
        self.create_commit(new)
    }

    fn bring_up_to_date(&self, number: u64, head: &str) -> Result<(), ForgeError> {
        let path = self.path(&format!("/pulls/{number}/update-branch"));
        let body = json!({"expected_head_sha": head});
        let action = "bring a pull request up to date";
        self.client.call(action, Method::Put, &path, Some(&body)).map(drop)
    }
}
