//! How a pull request stands on its way to the base branch, and what to do about it. Pure: forges fill in what they see, and
//! whoever waits asks [`Standing::next`].

use super::pull_request::State;

/// How the commits of a pull request come to its base branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeMethod {
    /// By a commit with two parents.
    Merge,
    /// As one commit.
    Squash,
    /// Each on its own, on top of the base branch.
    Rebase,
}

impl MergeMethod {
    /// As forges and `--merge-method` write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Squash => "squash",
            Self::Rebase => "rebase",
        }
    }

    /// The one that is written so.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Merge, Self::Squash, Self::Rebase].into_iter().find(|method| method.word() == word)
    }
}

/// What a forge says of merging a pull request now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mergeable {
    /// It would.
    Yes,
    /// Its commits do not fit on the base branch.
    Conflicts,
    /// It must first hold what the base branch has got since.
    Behind,
    /// A rule stands in the way.
    Blocked,
    /// It has not found out yet.
    #[default]
    Unknown,
}

/// How a check of the newest commit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckState {
    /// It ended well, or was skipped.
    Passed,
    /// It has not ended.
    Pending,
    /// It ended otherwise.
    Failed,
}

/// A check of the newest commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// How it stands.
    pub state: CheckState,
    /// The base branch takes nothing without it.
    pub is_required: bool,
}

/// What reviewers say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Review {
    /// None is asked for.
    #[default]
    NotNeeded,
    /// Enough of them agree.
    Approved,
    /// Somebody has to agree.
    Missing,
    /// Somebody asks for changes.
    ChangesWanted,
}

/// How a pull request stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The forge's own name for it.
    pub node: String,
    /// What became of it.
    pub state: State,
    /// The newest of its commits.
    pub head_commit: String,
    /// Not to be merged yet.
    pub is_draft: bool,
    /// What the forge says of merging it now.
    pub mergeable: Mergeable,
    /// The checks of its newest commit.
    pub checks: Vec<Check>,
    /// What reviewers say.
    pub review: Review,
    /// Its base branch takes commits from a queue alone.
    pub has_queue: bool,
    /// Its place in the queue, from 1.
    pub place: Option<u64>,
    /// The forge merges it by itself as soon as it may.
    pub merges_by_itself: bool,
    /// The forge can be asked to do so.
    pub may_merge_by_itself: bool,
    /// What the repository merges by where nobody says otherwise.
    pub method: Option<MergeMethod>,
}

/// Who merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merger {
    /// Somebody else.
    Others,
    /// This program, as soon as it may.
    Us,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is merged, as this commit where the forge says so.
    Landed(Option<String>),
    /// It was closed without a merge.
    Closed,
    /// The edit has to be made anew on the base branch.
    Redo,
    /// Checks that the base branch asks for have failed.
    ChecksFailed(Vec<String>),
    /// Merge it.
    Merge,
    /// Put it in the queue.
    Enqueue,
    /// Let the forge merge it as soon as it may.
    MergeLater,
    /// Look again.
    Wait(Reason),
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Somebody has to say that it is no draft.
    Draft,
    /// Somebody has to agree.
    Review,
    /// Somebody asks for changes.
    Changes,
    /// Checks that have not ended.
    Checks(Vec<String>),
    /// Its place in the queue.
    Queue(u64),
    /// The forge merges it by itself.
    Forge,
    /// Somebody has to merge it.
    Person,
    /// A rule of the base branch that the forge does not name.
    Rule,
    /// The forge finds out whether it can be merged.
    Answer,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Draft => f.write_str("it is a draft"),
            Self::Review => f.write_str("a review is missing"),
            Self::Changes => f.write_str("a reviewer asks for changes"),
            Self::Checks(names) => write!(f, "checks have not ended: {}", names.join(", ")),
            Self::Queue(place) => write!(f, "it is number {place} in the merge queue"),
            Self::Forge => f.write_str("the forge merges it as soon as it may"),
            Self::Person => f.write_str("nobody has merged it"),
            Self::Rule => f.write_str("a rule of the base branch stands in the way"),
            Self::Answer => f.write_str("the forge has not found out whether it can be merged"),
        }
    }
}

impl Standing {
    /// What to do next.
    pub fn next(&self, merger: Merger) -> Next {
        match &self.state {
            State::Merged { commit } => return Next::Landed(commit.clone()),
            State::Closed => return Next::Closed,
            State::Open => {}
        }
        if self.mergeable == Mergeable::Conflicts {
            return Next::Redo;
        }
        let failed = self.deciding(merger, CheckState::Failed);
        if !failed.is_empty() {
            return Next::ChecksFailed(failed);
        }
        if let Some(place) = self.place {
            return Next::Wait(Reason::Queue(place));
        }
        match merger {
            _ if self.is_draft => Next::Wait(Reason::Draft),
            Merger::Others => Next::Wait(self.reason(merger).unwrap_or(Reason::Person)),
            Merger::Us => self.next_of_ours(),
        }
    }

    fn next_of_ours(&self) -> Next {
        let reason = self.reason(Merger::Us);
        match (self.mergeable, &reason) {
            (Mergeable::Behind, _) if !self.has_queue => Next::Redo,
            (Mergeable::Yes, None) if self.has_queue => Next::Enqueue,
            (Mergeable::Yes, None) => Next::Merge,
            (Mergeable::Unknown, None) => Next::Wait(Reason::Answer),
            (Mergeable::Blocked | Mergeable::Behind, _)
                if self.may_merge_by_itself && !self.merges_by_itself =>
            {
                Next::MergeLater
            }
            _ => Next::Wait(reason.unwrap_or(Reason::Rule)),
        }
    }

    /// What stands in the way, where that is known.
    fn reason(&self, merger: Merger) -> Option<Reason> {
        let pending = self.deciding(merger, CheckState::Pending);
        match self.review {
            Review::ChangesWanted => Some(Reason::Changes),
            Review::Missing => Some(Reason::Review),
            _ if !pending.is_empty() => Some(Reason::Checks(pending)),
            _ if self.merges_by_itself => Some(Reason::Forge),
            _ => None,
        }
    }

    /// The names of the checks in this state that decide: the required ones. Where none is required, a person may merge whatever
    /// they say; this program takes all of them for required.
    fn deciding(&self, merger: Merger, state: CheckState) -> Vec<String> {
        let all = merger == Merger::Us && !self.checks.iter().any(|check| check.is_required);
        let decides = |check: &&Check| (all || check.is_required) && check.state == state;
        self.checks.iter().filter(decides).map(|check| check.name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(mergeable: Mergeable) -> Standing {
        Standing {
            node: "n".to_owned(),
            state: State::Open,
            head_commit: "h".to_owned(),
            is_draft: false,
            mergeable,
            checks: Vec::new(),
            review: Review::NotNeeded,
            has_queue: false,
            place: None,
            merges_by_itself: false,
            may_merge_by_itself: false,
            method: None,
        }
    }

    fn check(name: &str, state: CheckState, is_required: bool) -> Check {
        Check { name: name.to_owned(), state, is_required }
    }

    #[test]
    fn what_is_over_is_over() {
        let commit = Some("c".to_owned());
        let merged = Standing {
            state: State::Merged { commit: commit.clone() },
            ..open(Mergeable::Conflicts)
        };
        let closed = Standing { state: State::Closed, ..open(Mergeable::Yes) };
        for merger in [Merger::Us, Merger::Others] {
            assert_eq!(merged.next(merger), Next::Landed(commit.clone()));
            assert_eq!(closed.next(merger), Next::Closed);
            assert_eq!(open(Mergeable::Conflicts).next(merger), Next::Redo);
        }
    }

    #[test]
    fn only_what_is_required_decides() {
        let mut pull = open(Mergeable::Yes);
        pull.checks = vec![
            check("unit", CheckState::Passed, true),
            check("lint", CheckState::Failed, false),
            check("slow", CheckState::Pending, false),
        ];
        assert_eq!(pull.next(Merger::Us), Next::Merge);
        assert_eq!(pull.next(Merger::Others), Next::Wait(Reason::Person));
        pull.checks[0].state = CheckState::Failed;
        for merger in [Merger::Us, Merger::Others] {
            assert_eq!(pull.next(merger), Next::ChecksFailed(vec!["unit".to_owned()]));
        }
        // Where nothing is required, what is merged by nobody's eyes passes them all.
        pull.checks[0].is_required = false;
        pull.checks[0].state = CheckState::Passed;
        assert_eq!(pull.next(Merger::Us), Next::ChecksFailed(vec!["lint".to_owned()]));
        assert_eq!(pull.next(Merger::Others), Next::Wait(Reason::Person));
        pull.checks.remove(1);
        let slow = Reason::Checks(vec!["slow".to_owned()]);
        assert_eq!(pull.next(Merger::Us), Next::Wait(slow));
    }

    #[test]
    fn rules_are_left_to_the_forge_where_it_can_be_asked() {
        let mut pull = open(Mergeable::Blocked);
        assert_eq!(pull.next(Merger::Us), Next::Wait(Reason::Rule));
        pull.review = Review::Missing;
        assert_eq!(pull.next(Merger::Us), Next::Wait(Reason::Review));
        pull.may_merge_by_itself = true;
        assert_eq!(pull.next(Merger::Us), Next::MergeLater);
        assert_eq!(pull.next(Merger::Others), Next::Wait(Reason::Review));
        pull.merges_by_itself = true;
        assert_eq!(pull.next(Merger::Us), Next::Wait(Reason::Review));
        pull.review = Review::Approved;
        assert_eq!(pull.next(Merger::Us), Next::Wait(Reason::Forge));
    }

    #[test]
    fn a_queue_is_gone_through() {
        let mut pull = open(Mergeable::Yes);
        pull.has_queue = true;
        assert_eq!(pull.next(Merger::Us), Next::Enqueue);
        pull.place = Some(2);
        assert_eq!(pull.next(Merger::Us), Next::Wait(Reason::Queue(2)));
        // A queue brings branches up to date by itself.
        let behind = Standing { has_queue: true, ..open(Mergeable::Behind) };
        assert_eq!(behind.next(Merger::Us), Next::Wait(Reason::Rule));
        assert_eq!(open(Mergeable::Behind).next(Merger::Us), Next::Redo);
        assert_eq!(open(Mergeable::Behind).next(Merger::Others), Next::Wait(Reason::Person));
    }

    #[test]
    fn drafts_wait_for_a_person() {
        let draft = Standing { is_draft: true, ..open(Mergeable::Yes) };
        for merger in [Merger::Us, Merger::Others] {
            assert_eq!(draft.next(merger), Next::Wait(Reason::Draft));
        }
        assert_eq!(open(Mergeable::Unknown).next(Merger::Us), Next::Wait(Reason::Answer));
    }
}
