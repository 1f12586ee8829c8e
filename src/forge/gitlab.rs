//! GitLab: its merge requests are pull requests, told by their number within the project (`iid`). What is asked and answered is that of
//! its published description (`doc/api/openapi/openapi_v3.yaml` of its source) and of docs.gitlab.com/api/merge_requests.

mod merging;
mod read;

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::{Value as Json, json};

use self::read::Projects;
use super::api::Api;
use super::{
    BranchCommit, Forge, ForgeError, Head, MergeMethod, NewCommit, NewPullRequest, PullRequest,
    RepositoryName, Site, Standing, Update, is_of, open_or_find,
};
use crate::http::{Address, Method, Options};

/// Of the million characters that a description may have, what people still read.
const BODY_LIMIT: usize = 65_536;

/// The most items of a page.
const PAGE: usize = 100;

/// The most pages that are read.
const MOST_PAGES: usize = 5;

/// A title that begins with it makes a draft.
const DRAFT: &str = "Draft: ";

/// GitLab, at one project.
pub struct GitLab {
    site: Site,
    api: Api,
    projects: OnceLock<Projects>,
}

impl GitLab {
    /// With the token of the site; each request may take as long as is allowed.
    ///
    /// # Errors
    /// Where the site has no token, or its address is none.
    pub fn open(site: Site, allowed: Duration, options: &Options) -> Result<Self, ForgeError> {
        Ok(Self { api: Api::open(&site, allowed, options)?, projects: OnceLock::new(), site })
    }

    /// An address below a project.
    fn of(&self, project: &RepositoryName, rest: &[&str]) -> Address {
        let name = project.to_string();
        self.api.below(&[&["projects", name.as_str()][..], rest].concat())
    }

    /// An address below a merge request.
    fn request(&self, number: u64, rest: &[&str]) -> Address {
        let number = number.to_string();
        self.of(&self.site.repository, &[&["merge_requests", number.as_str()][..], rest].concat())
    }

    /// The project of the merge requests, and the one that the branch is pushed to.
    fn projects(&self) -> Result<&Projects, ForgeError> {
        if let Some(found) = self.projects.get() {
            return Ok(found);
        }
        let id = |name: &RepositoryName| {
            let action = "look at a project";
            let answer = self.api.call(action, Method::Get, self.of(name, &[]), None)?;
            let id = answer["id"].as_u64();
            id.ok_or_else(|| self.api.reader(action).unexpected("no number at /id"))
        };
        let target = (id(&self.site.repository)?, self.site.repository.to_string());
        let head = match self.site.head == self.site.repository {
            true => target.clone(),
            false => (id(&self.site.head)?, self.site.head.to_string()),
        };
        Ok(self.projects.get_or_init(|| Projects { target, head }))
    }

    fn read(&self, action: &'static str, item: &Json) -> Result<PullRequest, ForgeError> {
        self.projects()?.pull_request(&self.api.reader(action), item)
    }

    /// All items of a list.
    fn pages(&self, action: &'static str, address: &Address) -> Result<Vec<Json>, ForgeError> {
        let mut all = Vec::new();
        for page in 1..=MOST_PAGES {
            let address = address
                .clone()
                .with_parameter("per_page", &PAGE.to_string())
                .with_parameter("page", &page.to_string());
            let answer = self.api.call(action, Method::Get, address, None)?;
            let items = self.api.reader(action).list(&answer)?;
            all.extend(items.iter().cloned());
            if items.len() < PAGE {
                break;
            }
        }
        Ok(all)
    }

    fn list(&self, address: Address, base: &str) -> Result<Vec<PullRequest>, ForgeError> {
        let action = "list merge requests";
        let address = address.with_parameter("target_branch", base);
        self.pages(action, &address)?.iter().map(|item| self.read(action, item)).collect()
    }

    /// GitLab opens a merge request that has nothing in it: whether there is anything is asked before.
    fn require_something(&self, new: &NewPullRequest) -> Result<(), ForgeError> {
        let action = "compare two branches";
        let mut address = self
            .of(&new.head.repository, &["repository", "compare"])
            .with_parameter("from", &new.base)
            .with_parameter("to", &new.head.branch);
        if new.head.repository != self.site.repository {
            let target = self.projects()?.target.0;
            address = address.with_parameter("from_project_id", &target.to_string());
        }
        let answer = self.api.call(action, Method::Get, address, None)?;
        match answer["commits"].as_array() {
            Some(commits) if commits.is_empty() => {
                let (head, base) = (new.head.branch.clone(), new.base.clone());
                Err(ForgeError::NothingBetween { head, base })
            }
            Some(_) => Ok(()),
            None => Err(self.api.reader(action).unexpected("no list at /commits")),
        }
    }

    fn try_open(&self, new: &NewPullRequest) -> Result<PullRequest, ForgeError> {
        let action = "open a merge request";
        let title = if new.is_draft { format!("{DRAFT}{}", new.title) } else { new.title.clone() };
        let mut body = json!({
            "source_branch": new.head.branch, "target_branch": new.base, "title": title, "description": new.body,
        });
        if new.head.repository != self.site.repository {
            body["target_project_id"] = json!(self.projects()?.target.0);
        }
        let address = self.of(&new.head.repository, &["merge_requests"]);
        let answer = self.api.call(action, Method::Post, address, Some(&body))?;
        self.read(action, &answer)
    }

    fn put(&self, action: &'static str, number: u64, body: &Json) -> Result<Json, ForgeError> {
        self.api.call(action, Method::Put, self.request(number, &[]), Some(body))
    }

    /// The number of a person.
    fn person(&self, action: &'static str, name: &str) -> Result<u64, ForgeError> {
        let address = self.api.below(&["users"]).with_parameter("username", name);
        let answer = self.api.call(action, Method::Get, address, None)?;
        let found = self.api.reader(action).list(&answer)?.first().and_then(|p| p["id"].as_u64());
        found.ok_or_else(|| self.api.refused(action, format!("there is no person `{name}`")))
    }

    /// Adds people to those under `key`: the whole list is set at once.
    fn add_people(
        &self,
        action: &'static str,
        (key, ids_key): (&str, &str),
        number: u64,
        names: &[String],
    ) -> Result<(), ForgeError> {
        let now = self.api.call(action, Method::Get, self.request(number, &[]), None)?;
        let ids = |answer: &Json| -> Vec<u64> {
            let people = answer[key].as_array().into_iter().flatten();
            people.filter_map(|person| person["id"].as_u64()).collect()
        };
        let mut wanted = ids(&now);
        for name in names {
            let id = self.person(action, name)?;
            if !wanted.contains(&id) {
                wanted.push(id);
            }
        }
        let answer = self.put(action, number, &json!({ids_key: wanted}))?;
        let set = ids(&answer);
        match wanted.iter().all(|id| set.contains(id)) {
            true => Ok(()),
            // Without a paid plan there is one of them at most, and the others go without a word.
            false => Err(self.api.refused(action, "not all of them were taken".to_owned())),
        }
    }
}

impl Forge for GitLab {
    fn site(&self) -> &Site {
        &self.site
    }

    fn body_limit(&self) -> usize {
        BODY_LIMIT
    }

    fn find(&self, head: &Head, base: &str) -> Result<Vec<PullRequest>, ForgeError> {
        let address = self.of(&self.site.repository, &["merge_requests"]);
        let address =
            address.with_parameter("state", "all").with_parameter("source_branch", &head.branch);
        let mut found = self.list(address, base)?;
        found.retain(|pull| is_of(pull, head, base));
        found.sort_by_key(|pull| std::cmp::Reverse(pull.number));
        Ok(found)
    }

    fn list_open(&self, base: &str) -> Result<Vec<PullRequest>, ForgeError> {
        let address = self.of(&self.site.repository, &["merge_requests"]);
        let mut found = self.list(address.with_parameter("state", "opened"), base)?;
        let repository = &self.site.repository;
        found.retain(|pull| {
            pull.base_branch == base
                && pull.head_repository.as_deref().is_some_and(|name| repository.is(name))
        });
        Ok(found)
    }

    fn open(&self, new: &NewPullRequest) -> Result<PullRequest, ForgeError> {
        self.require_something(new)?;
        // In GitLab's words: "Another open merge request already exists for this source branch: !1".
        open_or_find(self, new, &|| self.try_open(new))
    }

    fn update(&self, number: u64, update: &Update) -> Result<PullRequest, ForgeError> {
        let action = "update a merge request";
        let mut body = json!({});
        if let Some(title) = &update.title {
            // Whether it is a draft stands in the title that goes.
            let now = self.api.call(action, Method::Get, self.request(number, &[]), None)?;
            let is_draft = self.read(action, &now)?.is_draft;
            body["title"] = if is_draft { json!(format!("{DRAFT}{title}")) } else { json!(title) };
        }
        if let Some(text) = &update.body {
            body["description"] = json!(text);
        }
        if update.close {
            body["state_event"] = json!("close");
        }
        if update.reopen {
            body["state_event"] = json!("reopen");
        }
        let answer = self.put(action, number, &body)?;
        self.read(action, &answer)
    }

    fn comment(&self, number: u64, text: &str) -> Result<(), ForgeError> {
        let address = self.request(number, &["notes"]);
        self.api.call("comment", Method::Post, address, Some(&json!({"body": text}))).map(drop)
    }

    /// Labels that the project does not have are made.
    fn add_labels(&self, number: u64, labels: &[String]) -> Result<(), ForgeError> {
        let action = "add labels";
        if let Some(label) = labels.iter().find(|label| label.contains(',')) {
            return Err(self.api.refused(action, format!("a comma parts labels: `{label}`")));
        }
        self.put(action, number, &json!({"add_labels": labels.join(",")})).map(drop)
    }

    fn request_reviews(&self, number: u64, reviewers: &[String]) -> Result<(), ForgeError> {
        let action = "ask for reviews";
        if let Some(team) = reviewers.iter().find(|name| name.contains('/')) {
            return Err(self.api.refused(action, format!("a group reviews nothing: `{team}`")));
        }
        self.add_people(action, ("reviewers", "reviewer_ids"), number, reviewers)
    }

    fn add_assignees(&self, number: u64, assignees: &[String]) -> Result<(), ForgeError> {
        self.add_people("assign", ("assignees", "assignee_ids"), number, assignees)
    }

    fn commits(&self, number: u64) -> Result<Vec<BranchCommit>, ForgeError> {
        let action = "list the commits of a merge request";
        let items = self.pages(action, &self.request(number, &["commits"]))?;
        let reader = self.api.reader(action);
        // The newest comes first.
        items.iter().rev().map(|item| read::commit(&reader, item)).collect()
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
        Err(ForgeError::Unsupported { kind: "GitLab with a merge train" })
    }

    fn commit(&self, _: &NewCommit) -> Result<String, ForgeError> {
        Err(ForgeError::Unsupported { kind: "GitLab with --commit-via-api" })
    }

    /// By a rebase, which is what GitLab has for it.
    fn bring_up_to_date(&self, number: u64, _: &str) -> Result<(), ForgeError> {
        let address = self.request(number, &["rebase"]);
        self.api.call("bring a merge request up to date", Method::Put, address, None).map(drop)
    }
}
