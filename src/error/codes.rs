//! The catalogue: every `error.code` that the program can give, with its exit status and meaning.
//!
//! `docs/errors.md` is this table as a page; a test holds the two equal. A code is part of the
//! interface: it is never renamed, and a new kind of failure gets a new one.

/// What the program ends with; the numbers are the table "Exit status" of the command line's contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Done, or already so.
    Done = 0,
    /// An error inside the program.
    Internal = 1,
    /// Wrong usage.
    Usage = 2,
    /// The input or a guard says no; nothing was written.
    Refused = 3,
    /// A precondition is missing.
    Missing = 4,
    /// An operation failed outside.
    Outside = 5,
    /// Not there in time.
    NotInTime = 6,
    /// A check found something.
    Found = 7,
}

impl Exit {
    /// The number that the shell sees.
    pub fn status(self) -> u8 {
        self as u8
    }
}

/// One kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    name: &'static str,
    exit: Exit,
    meaning: &'static str,
}

impl Code {
    /// Its stable name in kebab case, as in `error.code`.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The exit status that goes with it.
    pub fn exit(self) -> Exit {
        self.exit
    }

    /// What it means and what to do about it, in one or two sentences.
    pub fn meaning(self) -> &'static str {
        self.meaning
    }

    /// The code of that name.
    pub fn find(name: &str) -> Option<Self> {
        CATALOGUE.iter().copied().find(|code| code.name == name)
    }
}

macro_rules! catalogue {
    ($($constant:ident = $name:literal, $exit:ident, $meaning:literal;)*) => {
        $(
            #[doc = $meaning]
            pub const $constant: Code = Code { name: $name, exit: Exit::$exit, meaning: $meaning };
        )*
        /// All codes, ordered by exit status and then by name.
        pub const CATALOGUE: &[Code] = &[$($constant),*];
    };
}

catalogue! {
    INTERNAL = "internal", Internal,
        "The program met a state that it believes impossible. Nothing was written. Please report it with the command line.";
    BAD_AUTHOR = "bad-author", Usage,
        "`--author` is not of the form `Name <address>`.";
    BAD_BRANCH_NAME = "bad-branch-name", Usage,
        "The name is none that git takes for a branch, or it looks like an option.";
    USAGE = "usage", Usage,
        "The command line is wrong: an unknown or malformed argument, or one that is missing. `--help` shows what is expected.";
    ABSENT_THEN = "absent-then", Refused,
        "The overlay was not there at the commit that is to be gone back to, or has nothing before it.";
    AMBIGUOUS_IMAGE = "ambiguous-image", Refused,
        "A key of `--digests` fits images of several repositories. Use a whole name; the candidates are listed.";
    AMBIGUOUS_NAME = "ambiguous-name", Refused,
        "A name fits more than one rendered resource. Write it as KIND/NAME or KIND.GROUP/NAME; the candidates are listed.";
    APPLICATION_OVERRIDES = "application-overrides", Refused,
        "The Application that deploys the overlay states the field itself, or a file `.argocd-source….yaml` beside the overlay does for it, which wins over git, so that the change would have no effect. Take it out there first.";
    ASYMMETRIC = "asymmetric", Refused,
        "The two overlays do not render the same images. `--allow-missing` promotes what both render, `--only` some of it.";
    BASELINE_INVALID = "baseline-invalid", Refused,
        "The file is not a baseline that `overlay baseline record` writes, or one of a newer program.";
    BRANCH_CHECKED_OUT = "branch-checked-out", Refused,
        "The branch is checked out in another work tree, which moving it would leave behind.";
    BRANCH_DIVERGED = "branch-diverged", Refused,
        "The local branch and the same branch of the remote each have commits that the other has not. Bring them together first.";
    BRINGS_FINDINGS = "brings-findings", Refused,
        "The change brings what `overlay check` calls an error. `--allow-findings` ships it all the same.";
    BUILD_BROKEN = "build-broken", Refused,
        "The overlay does not build as it stands. Mend it first; the error names the file and line where that is known.";
    CERTIFICATE_UNREADABLE = "certificate-unreadable", Refused,
        "A file, Secret or server that should hold certificates, or a key, in PEM holds none that can be read. The block is named.";
    CHANGED_MEANWHILE = "changed-meanwhile", Refused,
        "A file was changed by somebody else between reading and writing. Nothing was written; run the command again.";
    CHANGED_ON_REMOTE = "changed-on-remote", Refused,
        "Somebody pushed another value for the same field while the edit was made. Nothing was pushed; both values are shown.";
    CONFIG_INVALID = "config-invalid", Refused,
        "The configuration file has an unknown key or a value of the wrong kind.";
    CONTRADICTION = "contradiction", Refused,
        "Two keys name one image and ask for different digests, or two changes of one file ask for different values.";
    DATABASE_DOWNGRADE = "database-downgrade", Refused,
        "A database would get an older major version, which cannot read what the newer one wrote. `--allow-downgrade` allows it.";
    DATABASE_REFUSED = "database-refused", Refused,
        "What the edit makes of a CloudNativePG Cluster is refused by its operator, so that the whole sync would fail: a volume that shrinks, an older major version, a number or a value that it does not take. The rule is that of the check that is named.";
    DATABASE_TAG = "database-tag", Refused,
        "The tag is one that the database's operator refuses (no version), or another major version, which is an upgrade and no pin.";
    DEAD_ENTRY = "dead-entry", Refused,
        "The key is the name of an `images:` entry that matches nothing rendered, so an edit of it would do nothing.";
    DECIDED_ELSEWHERE = "decided-elsewhere", Refused,
        "The number stands in a Helm values file, the template of a chart or an Argo CD Application, and in no overlay. It is edited there; the place is named.";
    DETACHED_HEAD = "detached-head", Refused,
        "No branch is checked out, so there is none to commit to. Name one with `--branch`.";
    DIRTY_FILE = "dirty-file", Refused,
        "A file that the edit names differs from what is committed, or something stands where a new file has to go. What is not committed is never committed along.";
    DOWNGRADE = "downgrade", Refused,
        "The tag is a lower version than the one in use. `--allow-downgrade` pins it all the same.";
    DRAIN_AMBIGUOUS = "drain-ambiguous", Refused,
        "Several places state the drain and disagree, or several drains are meant. `--precedence` names the source that wins, `--arg` and `--env` name the places.";
    DRAIN_RULE_UNKNOWN = "drain-rule-unknown", Refused,
        "A rule of `drain` in `.overlay.yaml` speaks of what the cluster does not have, so that it would protect nothing. Mend the name, or say `optional: true`.";
    DRAIN_RULES_CONTRADICT = "drain-rules-contradict", Refused,
        "The rules for emptying nodes cannot all be obeyed: one after another they lead round in a circle. They are listed.";
    DRAIN_UNKNOWN = "drain-unknown", Refused,
        "Nothing rendered states how long the workload drains, so there is nothing to align the grace with. `--assume DUR` says it.";
    DUMP_INVALID = "dump-invalid", Refused,
        "The file of `--from` is not what `kubectl get -o json` writes; the place is named. Or it holds no object that could be looked at.";
    DUPLICATE_KEY = "duplicate-key", Refused,
        "A key stands twice in the JSON of `--digests`.";
    EDIT_BREAKS_BUILD = "edit-breaks-build", Refused,
        "The overlay builds as it stands and would not after the edit. Nothing was written.";
    ENTRIES_DIFFER = "entries-differ", Refused,
        "`images:` entries or fields were added or removed since the commit that is to be gone back to. Each is named; `--allow-missing` leaves them as they are.";
    EPHEMERAL_ONLY = "ephemeral-only", Refused,
        "Only ephemeral containers use the image, and no transformer of kustomize reaches those.";
    FIELD_UNREACHABLE = "field-unreachable", Refused,
        "The path leads into something of another shape. The candidates are listed.";
    FILE_TOO_LARGE = "file-too-large", Refused,
        "A file is larger than a source file of an overlay may be (64 MiB).";
    GIT_PATH = "git-path", Refused,
        "A path of the edit cannot be committed: it is no regular file in that revision, or a filter such as Git LFS owns it.";
    GRACE_TOO_SHORT = "grace-too-short", Refused,
        "The grace would be below the time that the pods take to drain; they would be killed.";
    HELD_OFF = "held-off", Refused,
        "The workload is held at 0 replicas on purpose. `--turn-on` turns it on.";
    HOLD_INVALID = "hold-invalid", Refused,
        "The `overlay-hold.yaml` of the overlay cannot be read, so that nobody knows what it refuses. The place and the reason are given.";
    IMAGE_GONE = "image-gone", Refused,
        "The registry no longer has an image that would come back, so its pods could not be started. `--allow-gone` goes back all the same.";
    IMAGE_LOCK_INVALID = "image-lock-invalid", Refused,
        "The file of `--from-lock` is not one that `--write-lock` writes, or is of another version; or `--write-lock` names a file that is there and is none. The place is named.";
    IMAGE_NOT_FOUND = "image-not-found", Refused,
        "The registry has no image of that name and tag or digest, where it would be pulled from. Some registries say so too of what the login may not read.";
    IMAGE_NOT_LOCKED = "image-not-locked", Refused,
        "The file of `--from-lock` has no digest for an image that is asked for.";
    IN_PROGRESS = "in-progress", Refused,
        "A merge, a rebase, a cherry-pick or a revert is in progress in the work tree, so that a commit on its branch would become a part of it. Finish it or give it up first, or name another branch with `--branch`.";
    INSIDE_CLUSTER = "inside-cluster", Refused,
        "The command runs in the cluster that it would change or watch, and may be ended by its own roll. `--from-inside` runs it all the same.";
    INVALID_DIGEST = "invalid-digest", Refused,
        "A value carries no digest that may be written: a bare tag, a short digest, upper case, another algorithm, sixty-four zeros, or a tag in the place of the name.";
    NAME_IN_USE = "name-in-use", Refused,
        "The name of `--then-revert` stands for a change that is not returned yet.";
    NEW_KINDS = "new-kinds", Refused,
        "The new version of a base brings objects of kinds that there were none of, for which the cluster may lack something. `--accept-kind` accepts one.";
    NO_EFFECT = "no-effect", Refused,
        "The edit would not change what is rendered: something later decides the value. Nothing was written.";
    NO_ENTRY = "no-entry", Refused,
        "No `images:` entry of the overlay decides the image, and `--no-add` forbids a new one.";
    NO_PLACE = "no-place", Refused,
        "The field is one that `images:` does not reach, and nothing that this overlay may say would set it.";
    NO_REMOTE_BASE = "no-remote-base", Refused,
        "The overlay names no remote base, or none with that address, so there is none to move.";
    NO_SUCH_GROUP = "no-such-group", Refused,
        "`--group` names none of the groups of `.overlay.yaml`. Those that are there are listed.";
    NO_SUCH_IMAGE = "no-such-image", Refused,
        "A key of `--digests` names nothing that is rendered. The nearest names are listed.";
    NO_SUCH_PLATFORM = "no-such-platform", Refused,
        "The image has none for a platform that is asked for or required, or several for it. Those that it has are listed.";
    NO_SUCH_WORKLOAD = "no-such-workload", Refused,
        "A name is that of nothing rendered which the command acts on. The nearest names are listed.";
    NOT_ALLOWED = "not-allowed", Refused,
        "The value is well formed and would be refused by the API server, by an operator, or could never work. The reason is given.";
    NOT_AN_ANCESTOR = "not-an-ancestor", Refused,
        "The commit that is to be gone back to is no part of the history of what is checked out.";
    NOT_AN_IMAGE = "not-an-image", Refused,
        "What the name stands for is no image that can be pinned: another kind of artifact, a manifest of Docker's schema 1, or a name that no registry takes.";
    NOT_EDITABLE = "not-editable", Refused,
        "The file holds a form that cannot be edited without changing more than what was asked: an anchor in use, a key twice, a merge key. The place is named.";
    ON_HOLD = "on-hold", Refused,
        "Edits of the overlay are refused until the date in its `overlay-hold.yaml`, for the reason that stands there. `--override-hold` edits it all the same.";
    OTHER_VALUE = "other-value", Refused,
        "The edit would render another value than the one asked for. Nothing was written.";
    OUTSIDE_BOUNDARY = "outside-boundary", Refused,
        "A path or link leads out of the repository, beyond which nothing is read or written.";
    OWNED_BY_AUTOSCALER = "owned-by-autoscaler", Refused,
        "A HorizontalPodAutoscaler or a KEDA ScaledObject owns the number of replicas. `--override-owner` writes it all the same.";
    PLACEHOLDER = "placeholder", Refused,
        "The image is pinned to sixty-four zeros, which fail closed on purpose. `--replace-placeholder` replaces them.";
    PLACEHOLDER_RETURNS = "placeholder-returns", Refused,
        "An image would again be pinned to sixty-four zeros, so that its pods cannot start. `--allow-placeholder` lets it come back.";
    QUANTITY_INVALID = "quantity-invalid", Refused,
        "A request or limit is no quantity of Kubernetes, or is negative: the object and the field are named.";
    REFS_LEFT_BEHIND = "refs-left-behind", Refused,
        "Another file that the overlay uses names the same base at another version, and it is not among the files edited. Each line is named.";
    SEVERAL_BASES = "several-bases", Refused,
        "The overlay stands on several remote repositories. `--repository` names one by a part of its address.";
    SEVERAL_ENTRIES = "several-entries", Refused,
        "Two `images:` entries of the overlay speak of one repository. Both are named; name one of them by its own `name`, or remove one.";
    SHORTENS_DRAIN = "shortens-drain", Refused,
        "The drain, or the grace, would become shorter. `--shorten` allows it.";
    SIGNATURE_KEY = "signature-key", Refused,
        "The file of `--verify-signature` holds no public key that can be used.";
    SIGNATURE_REFUSED = "signature-refused", Refused,
        "The image is not signed, or not by that key. Nothing was written.";
    STATEFUL_REMOVAL = "stateful-removal", Refused,
        "Objects that hold data would no longer be rendered. `--allow-removal KIND/NAME` allows each.";
    TAG_NEEDED = "tag-needed", Refused,
        "A tag has to stand beside the digest, or was asked for, and there is none; or the reverse.";
    TAKEN_BACK = "taken-back", Refused,
        "The same change failed before and was taken back. `--again` ships it again.";
    TEMPLATE_INVALID = "template-invalid", Refused,
        "The template of a pull request's body is none, names something that there is not, or gives more than the forge takes.";
    TURNS_ON_UNPINNED = "turns-on-unpinned", Refused,
        "A workload would be turned on with an image that is not pinned. `--allow-unpinned` allows it.";
    UNPINNED_SOURCE = "unpinned-source", Refused,
        "An image of the source has a tag alone, or a placeholder, so that there is no pin to promote.";
    UNREADABLE_FILE = "unreadable-file", Refused,
        "A file cannot be read: a loop of links, a device, a link that leads nowhere, a missing right, or a name that is not UTF-8.";
    UNSEEN_IMAGE = "unseen-image", Refused,
        "The name may be used by a remote base that could not be read, and by nothing else. `--unseen` pins it all the same.";
    WAVES_INVALID = "waves-invalid", Refused,
        "An overlay of the edit is in no wave or in two, or `.overlay.yaml` has no waves of that name.";
    WIDER_EFFECT = "wider-effect", Refused,
        "The edit would change more than what was named. Nothing was written.";
    WRONG_APPLICATION = "wrong-application", Refused,
        "None of the Application's sources is this repository and overlay, so that it never gets the commit. What it deploys is named.";
    WRONG_KIND = "wrong-kind", Refused,
        "The name is that of a kind which the command does not act on.";
    ARGOCD_DENIED = "argocd-denied", Missing,
        "Argo CD does not take the credentials, or the account may not do this.";
    ARGOCD_UNCONFIGURED = "argocd-unconfigured", Missing,
        "Where Argo CD is, is not known. Set `ARGOCD_SERVER` and `ARGOCD_AUTH_TOKEN`.";
    BAD_REMOTE = "bad-remote", Missing,
        "The name is neither a configured remote nor an address of a transport that may be used (file, git, http, https, ssh).";
    CLUSTER_DENIED = "cluster-denied", Missing,
        "The cluster does not take the credentials, or the account lacks a right without which nothing can be said. The verb and the resource are named.";
    CLUSTER_UNCONFIGURED = "cluster-unconfigured", Missing,
        "Which cluster is meant is not known: no `--kubeconfig`, no `KUBECONFIG`, no usual place, not in a pod; or the configuration cannot be used. `--from FILE` reads a dump instead.";
    COMMAND_NOT_STARTED = "command-not-started", Missing,
        "The command that `probe` is to run beside itself cannot be started.";
    COMPONENT_UNUSED = "component-unused", Missing,
        "The OVERLAY is a Component. It is edited and proven through an overlay that uses it, and none was found.";
    DOCTOR_PROBLEM = "doctor-problem", Missing,
        "`overlay doctor` found something that commands cannot do without, or a remote that does not answer. Each is named.";
    FORGE_CREDENTIAL = "forge-credential", Missing,
        "No variable holds a credential for the forge, or the one it holds is not of the form that it must have.";
    FORGE_REPOSITORY = "forge-repository", Missing,
        "Which repository the pull request is for is not known. `--repo OWNER/NAME` names it.";
    FORGE_UNKNOWN = "forge-unknown", Missing,
        "Neither flags nor the environment nor the remote say which forge has the pull requests. `--forge KIND` and `--forge-url URL` name it.";
    GIT_MISSING = "git-missing", Missing,
        "The git program cannot be started.";
    GIT_TOO_OLD = "git-too-old", Missing,
        "The git program is older than 2.39.";
    HELM_MISSING = "helm-missing", Missing,
        "`--enable-helm` needs the program helm, of version 3 or 4, in `PATH`.";
    IMAGE_DENIED = "image-denied", Missing,
        "The registry does not let the login that it got, or anybody, read the image.";
    LOGIN_NEEDED = "login-needed", Missing,
        "The registry asks for a login, and no configuration of Docker or Podman has one for it.";
    LOGIN_REFUSED = "login-refused", Missing,
        "The registry, or its token service, does not accept the login; the file or helper it comes from is named.";
    NO_BOUNDARY = "no-boundary", Missing,
        "The overlay is in no git work tree and not below the current directory. `--root DIR` names the directory that nothing may reach beyond.";
    NO_GIT_IDENTITY = "no-git-identity", Missing,
        "Git does not know who commits: `user.name` and `user.email` are not set.";
    NO_SUCH_APPLICATION = "no-such-application", Missing,
        "There is no such Application, none deploys the overlay, or the account may not see it.";
    NO_SUCH_CODE = "no-such-code", Missing,
        "`overlay explain` knows no such id. `docs/checks.md` lists the checks and `docs/errors.md` the codes of errors.";
    NO_SUCH_DIRECTORY = "no-such-directory", Missing,
        "A directory named by an option does not exist.";
    NO_SUCH_FIELD = "no-such-field", Missing,
        "The resource has no such field in what the overlay renders.";
    NO_SUCH_FILE = "no-such-file", Missing,
        "A file named by an option does not exist or cannot be read.";
    NO_SUCH_NAMESPACE = "no-such-namespace", Missing,
        "The cluster, or the dump of it, has no namespace of that name, and nothing that is in one.";
    NO_SUCH_NODE = "no-such-node", Missing,
        "`--nodes` or `--selector` names no node of the cluster. The nearest names are listed.";
    NO_SUCH_OVERLAY = "no-such-overlay", Missing,
        "The path names no overlay: nothing is there, the directory has no kustomization file, or a pattern matches none.";
    NO_SUCH_REFERENCE = "no-such-reference", Missing,
        "The remote has no such branch, tag or commit.";
    NO_SUCH_RESOURCE = "no-such-resource", Missing,
        "The overlay renders no resource of that name. The nearest names are listed.";
    NO_SUCH_REVISION = "no-such-revision", Missing,
        "The text names no commit of the repository. A shallow clone holds few.";
    NO_SUCH_SECRET = "no-such-secret", Missing,
        "The cluster, or the dump of it, has no such Secret, or the Secret has no such key.";
    NOT_A_REPOSITORY = "not-a-repository", Missing,
        "The overlay is in no git repository, so nothing can be committed.";
    NOT_BUILDABLE = "not-buildable", Missing,
        "The overlay uses something that the built-in build does not do, and no external kustomize is at hand or may do it. Install kustomize 5 or name one with `--kustomize PATH`; helm runs only with `--enable-helm`, plugins never. `--no-proof` edits without a proof.";
    NOT_DELIVERABLE = "not-deliverable", Missing,
        "This build of the program does not deliver through git.";
    NOTHING_TO_RETURN = "nothing-to-return", Missing,
        "The base branch holds no change that was shipped with `--then-revert` and that name. `--of COMMIT` names it.";
    REGISTRY_CREDENTIALS = "registry-credentials", Missing,
        "A configuration file of Docker or Podman, or a credential helper that it names, cannot be used.";
    REMOTE_BASE = "remote-base", Missing,
        "The overlay names something on the network whose content is not at hand, so that it cannot be rendered.";
    RENDERER_MISSING = "renderer-missing", Missing,
        "The external kustomize cannot be started, or its version is below 5.0.";
    REPOSITORY_LOCKED = "repository-locked", Missing,
        "Another git command holds a lock of the repository. If none runs, remove the lock file that is named.";
    REPOSITORY_UNUSABLE = "repository-unusable", Missing,
        "Git does not take the repository as it stands, for instance because somebody else owns it.";
    SEVERAL_BOUNDARIES = "several-boundaries", Missing,
        "The overlays named belong to different repositories. One command works in one repository.";
    SHALLOW_CLONE = "shallow-clone", Missing,
        "The clone is shallow, what is sought is not in it, and it could not be deepened. `git fetch --unshallow` brings the rest.";
    UNBORN_BRANCH = "unborn-branch", Missing,
        "The current branch has no commit yet, so there is nothing to base an edit on.";
    APPLICATION_GONE = "application-gone", Outside,
        "The Application is being deleted, was deleted, or is another one of the same name.";
    ARGOCD_UNREACHABLE = "argocd-unreachable", Outside,
        "Argo CD does not answer, or not in a form that can be read.";
    CHECKS_FAILED = "checks-failed", Outside,
        "Checks that the pull request needs have failed; they are named. Once they pass, the same command goes on.";
    CLUSTER_UNREACHABLE = "cluster-unreachable", Outside,
        "The cluster does not answer, or not in a form that can be read.";
    COMMAND_FAILED = "command-failed", Outside,
        "The command that ran beside `probe` did not end well; its status is given. What the probe found is in the result.";
    COMMIT_REWRITTEN = "commit-rewritten", Outside,
        "The branch of the remote had the commit and no longer has it: somebody rewrote it.";
    COMPARISON_FAILED = "comparison-failed", Outside,
        "Argo CD cannot render or compare: the condition that it gives is in the message. A deleted branch and a broken kustomization end here.";
    DEGRADED = "degraded", Outside,
        "What was applied stays Degraded. The object and what Argo CD says of it are named.";
    DEGRADED_BEFORE = "degraded-before", Outside,
        "What is Degraded was so before the commit, which does not change it. `--health touched` looks at the changed objects alone.";
    DRIFT = "drift", Outside,
        "The sync of the commit is finished and objects differ from git all the same. `--allow-drift` accepts it for objects that the commit does not change.";
    EFFECT_IGNORED = "effect-ignored", Outside,
        "What is live does not hold the change, and `ignoreDifferences` hides that from Argo CD.";
    EFFECT_MISSING = "effect-missing", Outside,
        "Argo CD says Synced at a revision with the commit, and what it rendered, or what is live, does not hold the change: stale manifests, or an override in the Application.";
    FORGE_AUTHENTICATION = "forge-authentication", Outside,
        "The forge does not take the credential.";
    FORGE_FAILED = "forge-failed", Outside,
        "The forge failed, or gave an answer that its own description does not know.";
    FORGE_RATE_LIMITED = "forge-rate-limited", Outside,
        "The forge takes no more requests for longer than the command may wait.";
    FORGE_REFUSED = "forge-refused", Outside,
        "The forge understands the request and refuses it, or hides what it is about; its words are given.";
    FORGE_UNREACHABLE = "forge-unreachable", Outside,
        "The forge cannot be reached, or does not answer in time.";
    GIT_AUTHENTICATION = "git-authentication", Outside,
        "The remote asks for credentials, or does not take those it got.";
    GIT_FAILED = "git-failed", Outside,
        "Git ended with an error that has no code of its own; its words are given.";
    GIT_OBJECT = "git-object", Outside,
        "An object of the repository is missing or broken.";
    GIT_STOPPED = "git-stopped", Outside,
        "Git was ended because it received more than is allowed.";
    GIT_TIMEOUT = "git-timeout", Outside,
        "Git did not end in the time it had. `--timeout` allows more.";
    HEALTH_UNKNOWN = "health-unknown", Outside,
        "Objects stay missing, or their health stays unknown.";
    HYDRATION_FAILED = "hydration-failed", Outside,
        "The source hydrator cannot render or push the commit.";
    MERGE_REFUSED = "merge-refused", Outside,
        "The forge refuses to merge the pull request; its words are given.";
    MERGED_OTHERWISE = "merged-otherwise", Outside,
        "The pull request was merged, and what its base branch renders does not hold the change: it was changed before the merge, or taken back.";
    OBJECT_EXCLUDED = "object-excluded", Outside,
        "Argo CD leaves a changed object out, or another Application owns it too.";
    PRUNE_NEEDED = "prune-needed", Outside,
        "Only objects that git no longer has are left, and pruning is off. Sync with prune, or delete them.";
    PULL_REQUEST_CLOSED = "pull-request-closed", Outside,
        "The pull request was closed without a merge. The same command again proposes the change on a fresh branch.";
    PULL_REQUEST_CONFLICTS = "pull-request-conflicts", Outside,
        "The pull request does not fit on its base branch, and making the edit anew does not help: commits of others are in the way, or somebody set another value.";
    PUSH_LOST_RACES = "push-lost-races", Outside,
        "Every try to push was overtaken by somebody else. Nothing was pushed; run the command again.";
    PUSH_NOT_THERE = "push-not-there", Outside,
        "The remote took the push, and its branch does not hold the commit. Somebody may have rewritten it.";
    PUSH_REFUSED = "push-refused", Outside,
        "A rule of the remote refuses the push: a protected branch, a required signature, a hook. Its words, the branch and the commit are given.";
    RECONCILE_SKIPPED = "reconcile-skipped", Outside,
        "An annotation tells the controller to leave the Application alone, so nothing will happen.";
    REGISTRY_BUSY = "registry-busy", Outside,
        "The registry answers that it is asked too often, and goes on doing so for as long as could be waited.";
    REGISTRY_CONTRADICTION = "registry-contradiction", Outside,
        "What the registry sends is not what it says it is: a digest, a type or a blob does not fit. Nothing was written.";
    REGISTRY_FAILED = "registry-failed", Outside,
        "The registry, or its token service, answers with an error of its own; its status is given.";
    REGISTRY_UNREACHABLE = "registry-unreachable", Outside,
        "The registry cannot be reached, does not answer in time, breaks off, sends too much, or its certificate is not trusted.";
    REMOTE_MISSING = "remote-missing", Outside,
        "The remote has no such repository, or hides it from this account.";
    REMOTE_UNREACHABLE = "remote-unreachable", Outside,
        "The remote cannot be reached: no such host, no connection, no answer, or a certificate that is not trusted.";
    RENDERER_FAILED = "renderer-failed", Outside,
        "The external kustomize, or helm, ended without a result for a reason that is not the overlay's: too slow, too much output, or killed.";
    REVISION_PINNED = "revision-pinned", Outside,
        "The Application is pinned to a commit that does not contain the one waited for. Change its `targetRevision`.";
    SERVER_UNREACHABLE = "server-unreachable", Outside,
        "The server of `--connect` cannot be reached, or presents no certificate in a TLS handshake.";
    SIGNING_FAILED = "signing-failed", Outside,
        "The commit could not be signed. `git commit -S` would fail in the same way.";
    SUPERSEDED = "superseded", Outside,
        "A later commit changed the same again, so that what is applied is not what was waited for. The commit is named.";
    SUSPENDED = "suspended", Outside,
        "Something is paused or waits for a person: a Deployment, a Rollout, a database.";
    SYNC_FAILED = "sync-failed", Outside,
        "The sync of the commit failed: an object was refused, or a hook. What Argo CD says is in the message.";
    SYNC_MANUAL = "sync-manual", Outside,
        "The Application is OutOfSync and nobody syncs it: automation is off. Sync it, or let `--sync` do so.";
    WRITE_FAILED = "write-failed", Outside,
        "A file could not be written. Every file is as it was before.";
    WRITE_INCOMPLETE = "write-incomplete", Outside,
        "A file could not be written, and undoing the ones before it failed too. The files that changed are named.";
    COMMAND_TOO_SLOW = "command-too-slow", NotInTime,
        "The command that ran beside `probe` took longer than `--timeout`, and was ended.";
    COMMIT_NOT_NOTICED = "commit-not-noticed", NotInTime,
        "The wait ended before Argo CD had compared a revision with the commit.";
    COMMIT_NOT_SYNCED = "commit-not-synced", NotInTime,
        "The wait ended before the commit was synced.";
    CONTROLLER_SILENT = "controller-silent", NotInTime,
        "The wait ended while a refresh was pending that no controller took up. Is the application controller running?";
    NOT_HEALTHY = "not-healthy", NotInTime,
        "The wait ended before what was applied was healthy.";
    NOT_MERGED = "not-merged", NotInTime,
        "The wait ended before the pull request was merged; what it waits for is said. The same command again goes on waiting.";
    NOT_SETTLED = "not-settled", NotInTime,
        "The wait ended before it was certain: all looked well, not for long enough or not by a comparison after the sync.";
    OPERATION_STUCK = "operation-stuck", NotInTime,
        "The wait ended while a sync of a revision without the commit held the place.";
    ROLLOUT_STALLED = "rollout-stalled", NotInTime,
        "`verify --follow` ended before the roll did. Why it stands still is in the findings; `docs/verify.md` has a section for each.";
    SYNC_WINDOW = "sync-window", NotInTime,
        "The wait ended while a sync window was closed. It is named with its schedule.";
    WAVE_INCOMPLETE = "wave-incomplete", NotInTime,
        "Overlays of earlier waves, which others ship, did not hold the change in time.";
    CAPACITY_NONE = "capacity-none", Found,
        "`capacity` found no number of nodes that holds what is asked for, of any kind that is named. Each kind says which pods are too large for it.";
    DIGESTS_GONE = "digests-gone", Found,
        "`pin --verify` found digests that their registry does not have any more: what is pinned to them cannot be pulled anew.";
    DRAIN_OBSTACLES = "drain-obstacles", Found,
        "`drain-plan` found what its plan cannot solve: pods that would find no place, that nothing makes anew, or whose budget allows no eviction now. Each is listed with what to do.";
    DRAIN_OFF_COURSE = "drain-off-course", Found,
        "`drain-plan --progress` found something that is not as it should be, so that the next node had better wait. Each thing is listed with what to do.";
    FINDINGS = "findings", Found,
        "`check` found something at or above `--fail-on`; each finding is listed with its file and line.";
    LOCK_OUTDATED = "lock-outdated", Found,
        "`lock --check` found a reference that is not locked, a tag that is another commit now, or one that is gone; each is listed.";
    NEW_TROUBLE = "new-trouble", Found,
        "`baseline compare` found trouble that was not there when the baseline was recorded, or more of it. What was there before is told and is no error.";
    NOT_LOOKED_AT = "not-looked-at", Found,
        "`baseline compare` could not look at a kind that was looked at when the baseline was recorded, so that nobody can tell whether it has new trouble.";
    NOT_VERIFIED = "not-verified", Found,
        "`verify` found that what runs is not what it is to be. Each finding is listed; `docs/verify.md` has a section for each.";
    PROBE_FAILED = "probe-failed", Found,
        "`probe`: more tries failed than `--max-failures` allows. Each failure is listed with its time and cause.";
    TAGS_MOVED = "tags-moved", Found,
        "`pin --refresh --check` found pins whose tag stands for another image now, or for none.";
    TRUST_BROKEN = "trust-broken", Found,
        "`verify --trust`: clients that trust the CA do not trust what the server presents, or soon will not, or pods that started before a change have the old certificates. Each finding is listed, with what to do in which order.";
    UNPINNED = "unpinned", Found,
        "Something rendered is not pinned to a digest; each place is listed.";
}
