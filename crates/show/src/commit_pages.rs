//! The web pages of commits, for links.

use serde::Serialize;

use lapwing_model::Version;

/// The addresses of a repository's pages on the web, with gaps for the hashes of commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommitPages {
    /// The page of a commit, `{to}`.
    commit: String,
    /// The difference from commit `{from}` to commit `{to}`.
    difference: String,
}

impl CommitPages {
    /// Returns the pages of the repository at an address such as `git@github.com:group/name.git`; `None` if it is not
    /// on the web. Credentials in the address are dropped.
    ///
    /// The host's name tells GitLab and Bitbucket; all others are taken to have the paths of GitHub, as Forgejo and
    /// Gitea do.
    pub fn of(remote: &str) -> Option<Self> {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-._~/:@+%[]".contains(it);
        if !remote.chars().all(is_plain) {
            return None;
        }
        let (scheme, authority, path) = match remote.split_once("://") {
            Some((scheme @ ("http" | "https"), rest)) => {
                let (authority, path) = rest.split_once('/')?;
                (scheme, host(authority), path)
            }
            Some(("ssh" | "git" | "git+ssh", rest)) => {
                let (authority, path) = rest.split_once('/')?;
                // The port is that of another protocol.
                let name = host(authority).split(':').next()?;
                ("https", name, path)
            }
            Some(_) => return None,
            // `user@host:path`, as of `scp`; a path on this machine has no such host.
            None => {
                let (authority, path) = remote.split_once(':')?;
                let name = host(authority);
                if name.contains('/') || !name.contains('.') {
                    return None;
                }
                ("https", name, path)
            }
        };
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        if authority.is_empty() || path.is_empty() {
            return None;
        }
        let address = format!("{scheme}://{authority}/{path}");
        let [commit, difference] = if authority.contains("gitlab") {
            ["-/commit/{to}", "-/compare/{from}...{to}"]
        } else if authority.contains("bitbucket") {
            ["commits/{to}", "branches/compare/{to}%0D{from}"]
        } else {
            ["commit/{to}", "compare/{from}...{to}"]
        };
        Some(Self {
            commit: format!("{address}/{commit}"),
            difference: format!("{address}/{difference}"),
        })
    }

    /// Returns the address of the commit of a version, if it has one.
    pub fn commit(&self, version: &Version) -> Option<String> {
        Some(self.commit.replace("{to}", hash(version)?))
    }

    /// Returns the address of the difference between two versions, if they have different commits.
    pub fn difference(&self, from: &Version, to: &Version) -> Option<String> {
        let (from, to) = (hash(from)?, hash(to)?);
        let filled = self.difference.replace("{from}", from).replace("{to}", to);
        (from != to).then_some(filled)
    }
}

/// Returns a host without the user and password before it.
fn host(authority: &str) -> &str {
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}

fn hash(version: &Version) -> Option<&str> {
    let commit = version.commit.as_deref()?;
    let is_hash = commit.len() >= 7 && commit.chars().all(|it| it.is_ascii_hexdigit());
    is_hash.then_some(commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(commit: &str) -> Version {
        Version {
            commit: Some(commit.to_owned()),
            ..Version::default()
        }
    }

    #[test]
    fn commits_have_pages_wherever_the_repository_is_hosted() {
        let [before, after] = [version("0123456789"), version("89abcdef01")];
        let pages = |remote: &str| {
            let pages = CommitPages::of(remote)?;
            Some((pages.commit(&after)?, pages.difference(&before, &after)?))
        };
        let of_github = Some((
            "https://github.com/g/n/commit/89abcdef01".to_owned(),
            "https://github.com/g/n/compare/0123456789...89abcdef01".to_owned(),
        ));
        for remote in [
            "https://github.com/g/n",
            "https://github.com/g/n.git/",
            "https://user:secret@github.com/g/n.git",
            "git@github.com:g/n.git",
            "ssh://git@github.com:22/g/n.git",
        ] {
            assert_eq!(pages(remote), of_github, "{remote}");
        }
        let of_gitlab = (
            "https://gitlab.example.org:8443/a/b/n/-/commit/89abcdef01".to_owned(),
            "https://gitlab.example.org:8443/a/b/n/-/compare/0123456789...89abcdef01".to_owned(),
        );
        let remote = "https://gitlab.example.org:8443/a/b/n.git";
        assert_eq!(pages(remote), Some(of_gitlab));
        let of_bitbucket = (
            "https://bitbucket.org/g/n/commits/89abcdef01".to_owned(),
            "https://bitbucket.org/g/n/branches/compare/89abcdef01%0D0123456789".to_owned(),
        );
        assert_eq!(pages("git@bitbucket.org:g/n.git"), Some(of_bitbucket));
    }

    #[test]
    fn what_is_not_on_the_web_has_no_pages() {
        for remote in [
            "",
            "/srv/git/name.git",
            "../name",
            "C:/name",
            "file:///srv/name",
            "https://github.com",
            "https://github.com/",
            "javascript:alert(1)//g.n/",
            "https://github.com/g/n\" onclick=\"",
        ] {
            assert_eq!(CommitPages::of(remote), None, "{remote}");
        }
    }

    #[test]
    fn versions_without_a_commit_have_no_links() {
        let pages = CommitPages::of("https://github.com/g/n").expect("pages");
        assert_eq!(pages.commit(&version("2.4.0/../x")), None);
        assert_eq!(pages.commit(&Version::default()), None);
        let one = version("0123456789");
        assert_eq!(pages.difference(&one, &one), None);
    }
}
