//! Gitea and Forgejo, over the project's own HTTP client. What is asked and answered is that of Gitea's published description
//! (`templates/swagger/v1_openapi3_json.tmpl`); its answers have GitHub's names for what both have.

mod merging;

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::api::Api;
use super::{
    BranchCommit, Forge, ForgeError, Head, MergeMethod, NewCommit, NewPullRequest, PullRequest,
    Site, Standing, Update, is_of, open_or_find,
};
use crate::http::{Address, Method, Options};

/// No limit of Gitea's own; what people still read.
const BODY_LIMIT: usize = 65_536;

/// The most items of a page (Gitea's `MAX_RESPONSE_ITEMS`, as it is delivered).
const PAGE: usize = 50;

/// The most pages of open pull requests, and of others, that are read.
const MOST_OPEN_PAGES: usize = 10;
const MOST_PAST_PAGES: usize = 2;

/// A title that begins with it makes a draft (Gitea's `WORK_IN_PROGRESS_PREFIXES`).
const DRAFT: &str = "WIP: ";

/// Gitea, at one repository.
pub struct Gitea {
    site: Site,
    api: Api,
}

impl Gitea {
    /// With the token of the site; each request may take as long as is allowed.
    ///
    /// # Errors
    /// Where the site has no token, or its address is none.
    pub fn open(site: Site, allowed: Duration, options: &Options) -> Result<Self, ForgeError> {
        Ok(Self { api: Api::open(&site, allowed, options)?, site })
    }

    /// An address below the repository.
    fn address(&self, rest: &[&str]) -> Address {
        let repository = &self.site.repository;
        let start = ["repos", repository.owner.as_str(), repository.name.as_str()];
        self.api.below(&[&start[..], rest].concat())
    }

    fn call(
        &self,
        action: &'static str,
        method: Method,
        address: Address,
        body: Option<&Json>,
    ) -> Result<Json, ForgeError> {
        self.api.call(action, method, address, body)
    }

    fn list(&self, state: &str, base: &str, most: usize) -> Result<Vec<PullRequest>, ForgeError> {
        let action = "list pull requests";
        let mut all = Vec::new();
        for page in 1..=most {
            let address = self
                .address(&["pulls"])
                .with_parameter("state", state)
                .with_parameter("base_branch", base)
                .with_parameter("sort", "recentupdate")
                .with_parameter("limit", &PAGE.to_string())
                .with_parameter("page", &page.to_string());
            let answer = self.call(action, Method::Get, address, None)?;
            let items = self.api.reader(action).list(&answer)?;
            for item in items {
                all.push(self.read(action, item)?);
            }
            if items.len() < PAGE {
                break;
            }
        }
        Ok(all)
    }

    fn read(&self, action: &'static str, item: &Json) -> Result<PullRequest, ForgeError> {
        let pull = self.api.reader(action).pull_request(item)?;
        let title = match pull.title.strip_prefix(DRAFT) {
            Some(rest) if pull.is_draft => rest.to_owned(),
            _ => pull.title.clone(),
        };
        Ok(PullRequest { title, ..pull })
    }

    fn number_address(&self, kind: &str, number: u64, rest: &[&str]) -> Address {
        let number = number.to_string();
        self.address(&[&[kind, number.as_str()][..], rest].concat())
    }

    fn try_open(&self, new: &NewPullRequest) -> Result<PullRequest, ForgeError> {
        let action = "open a pull request";
        let head = match new.head.repository == self.site.repository {
            true => new.head.branch.clone(),
            false => format!("{}:{}", new.head.repository.owner, new.head.branch),
        };
        let title = if new.is_draft { format!("{DRAFT}{}", new.title) } else { new.title.clone() };
        let body = json!({"title": title, "head": head, "base": new.base, "body": new.body});
        let answer = self.call(action, Method::Post, self.address(&["pulls"]), Some(&body))?;
        self.read(action, &answer)
    }
}

impl Forge for Gitea {
    fn site(&self) -> &Site {
        &self.site
    }

    fn body_limit(&self) -> usize {
        BODY_LIMIT
    }

    fn find(&self, head: &Head, base: &str) -> Result<Vec<PullRequest>, ForgeError> {
        // There is no question for one branch; the open ones are all looked at, of the others the newest.
        let mut found = self.list("open", base, MOST_OPEN_PAGES)?;
        found.extend(self.list("closed", base, MOST_PAST_PAGES)?);
        found.retain(|pull| is_of(pull, head, base));
        found.sort_by_key(|pull| std::cmp::Reverse(pull.number));
        Ok(found)
    }

    fn list_open(&self, base: &str) -> Result<Vec<PullRequest>, ForgeError> {
        let repository = &self.site.repository;
        let mut found = self.list("open", base, MOST_OPEN_PAGES)?;
        found.retain(|pull| {
            pull.base_branch == base
                && pull.head_repository.as_deref().is_some_and(|name| repository.is(name))
        });
        Ok(found)
    }

    fn open(&self, new: &NewPullRequest) -> Result<PullRequest, ForgeError> {
        open_or_find(self, new, &|| self.try_open(new))
    }

    fn update(&self, number: u64, update: &Update) -> Result<PullRequest, ForgeError> {
        let action = "update a pull request";
        let mut body = json!({});
        if let Some(title) = &update.title {
            let address = self.number_address("pulls", number, &[]);
            // Whether it is a draft stands in the title that goes.
            let now = self.read(action, &self.call(action, Method::Get, address, None)?)?;
            body["title"] =
                if now.is_draft { json!(format!("{DRAFT}{title}")) } else { json!(title) };
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
        let address = self.number_address("pulls", number, &[]);
        let answer = self.call(action, Method::Patch, address, Some(&body))?;
        self.read(action, &answer)
    }

    fn comment(&self, number: u64, text: &str) -> Result<(), ForgeError> {
        let address = self.number_address("issues", number, &["comments"]);
        self.call("comment", Method::Post, address, Some(&json!({"body": text}))).map(drop)
    }

    /// Names that the repository has no label for are left out by Gitea without a word.
    fn add_labels(&self, number: u64, labels: &[String]) -> Result<(), ForgeError> {
        let action = "add labels";
        let address = self.number_address("issues", number, &["labels"]);
        let answer = self.call(action, Method::Post, address, Some(&json!({"labels": labels})))?;
        let set: Vec<&str> = self
            .api
            .reader(action)
            .list(&answer)?
            .iter()
            .filter_map(|l| l["name"].as_str())
            .collect();
        match labels.iter().find(|label| !set.contains(&label.as_str())) {
            None => Ok(()),
            Some(missing) => {
                Err(self.api.refused(action, format!("there is no label `{missing}`")))
            }
        }
    }

    fn request_reviews(&self, number: u64, reviewers: &[String]) -> Result<(), ForgeError> {
        let (teams, people): (Vec<&String>, Vec<_>) =
            reviewers.iter().partition(|r| r.contains('/'));
        let teams: Vec<&str> = teams.iter().filter_map(|team| team.rsplit('/').next()).collect();
        let address = self.number_address("pulls", number, &["requested_reviewers"]);
        let body = json!({"reviewers": people, "team_reviewers": teams});
        self.call("ask for reviews", Method::Post, address, Some(&body)).map(drop)
    }

    fn add_assignees(&self, number: u64, assignees: &[String]) -> Result<(), ForgeError> {
        let address = self.number_address("issues", number, &[]);
        self.call("assign", Method::Patch, address, Some(&json!({"assignees": assignees})))
            .map(drop)
    }

    fn commits(&self, number: u64) -> Result<Vec<BranchCommit>, ForgeError> {
        let action = "list the commits of a pull request";
        let address = self
            .number_address("pulls", number, &["commits"])
            .with_parameter("limit", &PAGE.to_string())
            .with_parameter("files", "false")
            .with_parameter("verification", "false");
        let answer = self.call(action, Method::Get, address, None)?;
        let items = self.api.reader(action).list(&answer)?;
        items.iter().map(|item| self.api.reader(action).commit(item)).collect()
    }

    fn standing(&self, number: u64) -> Result<Standing, ForgeError> {
        self.find_standing(number)
    }

    fn merge(&self, number: u64, head: &str, method: MergeMethod) -> Result<(), ForgeError> {
        self.ask_to_merge(number, head, method, false)
    }

    fn merge_later(
        &self,
        number: u64,
        standing: &Standing,
        method: MergeMethod,
    ) -> Result<(), ForgeError> {
        self.ask_to_merge(number, &standing.head_commit, method, true)
    }

    fn enqueue(&self, _: &Standing) -> Result<(), ForgeError> {
        Err(ForgeError::Unsupported { kind: "Gitea with a merge queue" })
    }

    fn commit(&self, _: &NewCommit) -> Result<String, ForgeError> {
        Err(ForgeError::Unsupported { kind: "Gitea with --commit-via-api" })
    }

    fn bring_up_to_date(&self, number: u64, _: &str) -> Result<(), ForgeError> {
        self.merge_base_in(number)
    }
}
