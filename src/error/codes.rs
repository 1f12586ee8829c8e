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
    USAGE = "usage", Usage,
        "The command line is wrong: an unknown or malformed argument, or one that is missing. `--help` shows what is expected.";
    AMBIGUOUS_IMAGE = "ambiguous-image", Refused,
        "A key of `--digests` fits images of several repositories. Use a whole name; the candidates are listed.";
    AMBIGUOUS_NAME = "ambiguous-name", Refused,
        "A name fits more than one rendered resource. Write it as KIND/NAME or KIND.GROUP/NAME; the candidates are listed.";
    BUILD_BROKEN = "build-broken", Refused,
        "The overlay does not build as it stands. Mend it first; the error names the file and line where that is known.";
    CHANGED_MEANWHILE = "changed-meanwhile", Refused,
        "A file was changed by somebody else between reading and writing. Nothing was written; run the command again.";
    COMPONENT_ALONE = "component-alone", Refused,
        "The OVERLAY is a Component. Name an overlay that uses it; the error lists them.";
    CONFIG_INVALID = "config-invalid", Refused,
        "The configuration file has an unknown key or a value of the wrong kind.";
    CONTRADICTION = "contradiction", Refused,
        "Two keys name one image and ask for different digests.";
    DATABASE_TAG = "database-tag", Refused,
        "The tag is one that the database's operator refuses (no version), or another major version, which is an upgrade and no pin.";
    DEAD_ENTRY = "dead-entry", Refused,
        "The key is the name of an `images:` entry that matches nothing rendered, so an edit of it would do nothing.";
    DUPLICATE_KEY = "duplicate-key", Refused,
        "A key stands twice in the JSON of `--digests`.";
    EDIT_BREAKS_BUILD = "edit-breaks-build", Refused,
        "The overlay builds as it stands and would not after the edit. Nothing was written.";
    EPHEMERAL_ONLY = "ephemeral-only", Refused,
        "Only ephemeral containers use the image, and no transformer of kustomize reaches those.";
    FILE_TOO_LARGE = "file-too-large", Refused,
        "A file is larger than a source file of an overlay may be (64 MiB).";
    INVALID_DIGEST = "invalid-digest", Refused,
        "A value carries no digest that may be written: a bare tag, a short digest, upper case, another algorithm, or sixty-four zeros.";
    NO_EFFECT = "no-effect", Refused,
        "The edit would not change what is rendered: something later decides the value. Nothing was written.";
    NO_ENTRY = "no-entry", Refused,
        "No `images:` entry of the overlay decides the image, and `--no-add` forbids a new one.";
    NO_PLACE = "no-place", Refused,
        "The field is one that `images:` does not reach, and nothing that this overlay may say would set it.";
    NO_SUCH_IMAGE = "no-such-image", Refused,
        "A key of `--digests` names nothing that is rendered. The nearest names are listed.";
    NOT_EDITABLE = "not-editable", Refused,
        "The file holds a form that cannot be edited without changing more than what was asked: an anchor in use, a key twice, a merge key. The place is named.";
    OTHER_VALUE = "other-value", Refused,
        "The edit would render another value than the one asked for. Nothing was written.";
    OUTSIDE_BOUNDARY = "outside-boundary", Refused,
        "A path or link leads out of the repository, beyond which nothing is read or written.";
    PLACEHOLDER = "placeholder", Refused,
        "The image is pinned to sixty-four zeros, which fail closed on purpose. `--replace-placeholder` replaces them.";
    SEVERAL_ENTRIES = "several-entries", Refused,
        "Two `images:` entries of the overlay speak of one repository. Both are named; name one of them by its own `name`, or remove one.";
    TAG_NEEDED = "tag-needed", Refused,
        "A tag has to stand beside the digest, or was asked for, and there is none; or the reverse.";
    UNREADABLE_FILE = "unreadable-file", Refused,
        "A file cannot be read: a loop of links, a device, a link that leads nowhere, a missing right, or a name that is not UTF-8.";
    UNSEEN_IMAGE = "unseen-image", Refused,
        "The name may be used by a remote base that could not be read, and by nothing else. `--unseen` pins it all the same.";
    WIDER_EFFECT = "wider-effect", Refused,
        "The edit would change more than what was named. Nothing was written.";
    COMPONENT_UNUSED = "component-unused", Missing,
        "The OVERLAY is a Component. It is edited and proven through an overlay that uses it, and none was found.";
    NO_BOUNDARY = "no-boundary", Missing,
        "The overlay is in no git work tree and not below the current directory. `--root DIR` names the directory that nothing may reach beyond.";
    NO_SUCH_CODE = "no-such-code", Missing,
        "`overlay explain` knows no such id. `docs/errors.md` lists the codes of errors.";
    NO_SUCH_DIRECTORY = "no-such-directory", Missing,
        "A directory named by an option does not exist.";
    NO_SUCH_FIELD = "no-such-field", Missing,
        "The resource has no such field in what the overlay renders.";
    NO_SUCH_FILE = "no-such-file", Missing,
        "A file named by an option does not exist or cannot be read.";
    NO_SUCH_OVERLAY = "no-such-overlay", Missing,
        "The path names no overlay: nothing is there, the directory has no kustomization file, or a pattern matches none.";
    NO_SUCH_RESOURCE = "no-such-resource", Missing,
        "The overlay renders no resource of that name. The nearest names are listed.";
    NOT_BUILDABLE = "not-buildable", Missing,
        "The overlay uses something that the built-in build does not do and no external kustomize is at hand. Install kustomize 5 or name one with `--kustomize PATH`.";
    NOT_DELIVERABLE = "not-deliverable", Missing,
        "This build of the program does not deliver through git.";
    REMOTE_BASE = "remote-base", Missing,
        "The overlay names something on the network whose content is not at hand, so that it cannot be rendered.";
    RENDERER_MISSING = "renderer-missing", Missing,
        "The external kustomize cannot be started, or its version is below 5.0.";
    SEVERAL_BOUNDARIES = "several-boundaries", Missing,
        "The overlays named belong to different repositories. One command works in one repository.";
    RENDERER_FAILED = "renderer-failed", Outside,
        "The external kustomize ended without a result for a reason that is not the overlay's: too slow, too much output, or killed.";
    WRITE_FAILED = "write-failed", Outside,
        "A file could not be written. Every file is as it was before.";
    WRITE_INCOMPLETE = "write-incomplete", Outside,
        "A file could not be written, and undoing the ones before it failed too. The files that changed are named.";
    UNPINNED = "unpinned", Found,
        "Something rendered is not pinned to a digest; each place is listed.";
}
