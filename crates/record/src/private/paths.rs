//! Absolute paths in texts: home folders, and those of `hide = ["paths"]`.

use std::borrow::Cow;
use std::ops::Range;

/// Stands for the home folder of the user who measured.
pub(super) const HOME: &str = "~";

/// Folders of the system, which say nothing of a person or a project.
const OF_SYSTEM: [&str; 10] = [
    "/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr",
];

/// Returns a text with `own` in the place of `home`, and `others` in that of other home folders.
pub(super) fn without_homes<'t>(text: &'t str, home: Option<&str>, others: &str) -> Cow<'t, str> {
    replaced(text, |from| {
        let rest = &text[from..];
        if let Some(home) = home.filter(|it| is_below(rest, it)) {
            return Some((home.len(), HOME.into()));
        }
        if is_below(rest, "/root") {
            return Some(("/root".len(), others.into()));
        }
        let folder = ["/home/", "/Users/"]
            .into_iter()
            .find(|it| rest.starts_with(it))?;
        let name = rest[folder.len()..].find(|it: char| !is_of_name(it));
        let name = &rest[folder.len()..][..name.unwrap_or(rest.len() - folder.len())];
        let length = name.trim_end_matches('.').len();
        (length > 0).then(|| (folder.len() + length, others.into()))
    })
}

/// Returns a text in which absolute paths are relative to a folder, or hidden.
pub(super) fn without_paths<'t>(text: &'t str, folder: Option<&str>, hidden: &str) -> Cow<'t, str> {
    replaced(text, |from| {
        let rest = &text[from..];
        let end = rest.find(|it: char| it.is_whitespace() || "\"'`:;,()<>|[]{}".contains(it));
        let path = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
        if let Some(folder) = folder.filter(|it| is_below(path, it)) {
            let inner = path[folder.len()..].trim_start_matches('/');
            let inner = if inner.is_empty() { "." } else { inner };
            return Some((path.len(), inner.to_owned().into()));
        }
        let is_path = path[1..].contains('/') && !path.starts_with("//");
        let is_of_system = OF_SYSTEM.iter().any(|it| is_below(path, it));
        (is_path && !is_of_system).then(|| (path.len(), hidden.to_owned().into()))
    })
}

/// Returns a text with home folders, as [`without_homes`] leaves them, in full again.
pub(super) fn with_home(text: &str, home: &str) -> String {
    let mut full = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(HOME) {
        let after = text[at + 1..].chars().next();
        if begins(text, at) && after.is_none_or(|it| !is_of_name(it) && it != '~') {
            full.push_str(&text[done..at]);
            full.push_str(home);
            done = at + 1;
        }
    }
    full.push_str(&text[done..]);
    full
}

/// Returns a text in which `replace` replaces paths: it gets where one begins, and returns its length and what takes
/// its place.
fn replaced<'t, 'r>(
    text: &'t str,
    replace: impl Fn(usize) -> Option<(usize, Cow<'r, str>)>,
) -> Cow<'t, str> {
    let mut found: Vec<(Range<usize>, Cow<'r, str>)> = Vec::new();
    for (at, _) in text.match_indices('/') {
        if found.last().is_some_and(|(it, _)| at < it.end) || !begins(text, at) {
            continue;
        }
        if let Some((length, new)) = replace(at) {
            found.push((at..at + length, new));
        }
    }
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut done = 0;
    for (range, new) in found {
        clean.push_str(&text[done..range.start]);
        clean.push_str(&new);
        done = range.end;
    }
    clean.push_str(&text[done..]);
    Cow::Owned(clean)
}

/// Returns whether a path may begin there: not within another one, nor in the address of a web page.
fn begins(text: &str, at: usize) -> bool {
    let before = &text[..at];
    let last = before.chars().next_back();
    before.ends_with("://") || last.is_none_or(|it| !is_of_name(it) && !"/~)}]*?%$@".contains(it))
}

/// Returns whether a path is a folder, or in it.
fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| {
        rest.chars()
            .next()
            .is_none_or(|it| it == '.' || !is_of_name(it))
    })
}

fn is_of_name(it: char) -> bool {
    it.is_alphanumeric() || "._-".contains(it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_folders_have_no_name() {
        let cases = [
            ("/home/ann/x", "~/x"),
            ("cat '/home/ann/x' /home/ann", "cat '~/x' ~"),
            ("/home/bob/x:/root/y /Users/Eve.", "OTHER/x:OTHER/y OTHER."),
            ("file:///home/ann/x a=/home/ann", "file://~/x a=~"),
            ("/home/anna/x", "OTHER/x"),
            (
                "/data/home/x https://a.org/home/ann /rootfs /home",
                "/data/home/x https://a.org/home/ann /rootfs /home",
            ),
        ];
        for (text, clean) in cases {
            assert_eq!(without_homes(text, Some("/home/ann"), "OTHER"), clean);
        }
        let clean = without_homes("cat '/home/ann/x' /home/ann", Some("/home/ann"), "OTHER");
        assert_eq!(
            with_home(&clean, "/home/ann"),
            "cat '/home/ann/x' /home/ann"
        );
        assert_eq!(with_home("a~/b ~x x~ 1~2", "/h"), "a~/b ~x x~ 1~2");
    }

    #[test]
    fn absolute_paths_are_relative_or_hidden() {
        let cases = [
            ("/srv/it/a.py:3: /srv/it", "a.py:3: ."),
            ("run /data/secret/x --a=/data/y", "run HIDDEN --a=HIDDEN"),
            (
                "/usr/bin/env a/b ./c/d https://a.org/b/c /tmp 1/2",
                "/usr/bin/env a/b ./c/d https://a.org/b/c /tmp 1/2",
            ),
        ];
        for (text, clean) in cases {
            assert_eq!(without_paths(text, Some("/srv/it"), "HIDDEN"), clean);
        }
    }
}
