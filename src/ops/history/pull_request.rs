//! The pull request that a commit came by, where its message says so.

/// Trailers that name one.
const TRAILERS: [&str; 4] = ["Pull-Request", "PR-URL", "Merge-Request", "Reviewed-on"];

/// What the message names: an address, `#12`, or `!12`.
///
/// The forms are those that hosts write by themselves: GitHub and Gitea (`Merge pull request #12 from …`,
/// `subject (#12)`), GitLab (`See merge request group/project!12`), Bitbucket (`(pull request #12)`), Azure
/// (`Merged PR 12: …`).
pub(super) fn find(message: &str) -> Option<String> {
    let subject = message.lines().next().unwrap_or_default();
    trailer(message)
        .or_else(|| numbered(subject, "Merge pull request #", "#"))
        .or_else(|| numbered(subject, "Merged PR ", "#"))
        .or_else(|| behind(subject, "(pull request #", "#"))
        .or_else(|| squashed(subject))
        .or_else(|| merge_request(message))
}

fn trailer(message: &str) -> Option<String> {
    let block = message.trim_end().rsplit_once("\n\n")?.1;
    block.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        let is_one = TRAILERS.iter().any(|known| known.eq_ignore_ascii_case(key));
        let value = value.trim();
        (is_one && !value.is_empty() && !value.contains(' ')).then(|| value.to_owned())
    })
}

fn numbered(subject: &str, prefix: &str, sign: &str) -> Option<String> {
    number(subject.strip_prefix(prefix)?, sign)
}

fn behind(subject: &str, words: &str, sign: &str) -> Option<String> {
    number(subject.split_once(words)?.1, sign)
}

/// The last thing of the subject: earlier ones are what it speaks of.
fn squashed(subject: &str) -> Option<String> {
    let (_, last) = subject.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    let digits = last.strip_prefix('#').or(last.strip_prefix('!'))?;
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| last.to_owned())
}

fn merge_request(message: &str) -> Option<String> {
    let line = message.lines().find_map(|line| line.strip_prefix("See merge request "))?;
    number(line.rsplit_once('!')?.1, "!")
}

fn number(text: &str, sign: &str) -> Option<String> {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then(|| format!("{sign}{digits}"))
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn the_forms_of_hosts_are_read() {
        for (message, expected) in [
            ("Merge pull request #12 from team/branch\n\nRelease 1.4", Some("#12")),
            ("Release 1.4 (#12)\n\nBody", Some("#12")),
            ("Revert \"Release (#11)\" (#12)", Some("#12")),
            (
                "Merge branch 'x' into 'main'\n\nRelease\n\nSee merge request team/deploy!7",
                Some("!7"),
            ),
            ("Merged in x (pull request #3)\n\nRelease", Some("#3")),
            ("Merged PR 45: Release", Some("#45")),
            (
                "Release\n\nPull-Request: https://forge.example/team/deploy/pulls/9",
                Some("https://forge.example/team/deploy/pulls/9"),
            ),
            ("Release (see below)", None),
            ("Mends (#x)", None),
            ("", None),
        ] {
            assert_eq!(find(message).as_deref(), expected, "{message}");
        }
    }
}
