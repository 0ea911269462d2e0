//! Requirements of others: which of them only name packages of the configured index.

use super::StackError;

/// Endings of names that are taken for files.
const ARCHIVES: [&str; 10] = [
    ".whl", ".zip", ".gz", ".tgz", ".bz2", ".tbz", ".xz", ".txz", ".lzma", ".tar",
];

/// Refuses a requirement that does more than to name a package of the configured index: an option, a path, an
/// address, a variable.
///
/// # Errors
/// If it does.
pub(super) fn refuse_source(line: &str) -> Result<(), StackError> {
    if names_package(line) {
        return Ok(());
    }
    Err(StackError::ForeignSource {
        line: line.to_owned(),
    })
}

fn names_package(line: &str) -> bool {
    let mut parts = line.split(" --hash=");
    let requirement = parts.next().unwrap_or_default();
    let (requirement, marker) = requirement.split_once(';').unwrap_or((requirement, ""));
    let requirement = requirement.trim();
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    let end = requirement.find(|it| !is_of_name(it));
    let (name, rest) = requirement.split_at(end.unwrap_or(requirement.len()));
    let lower = name.to_lowercase();
    name.starts_with(|it: char| it.is_ascii_alphanumeric())
        && !ARCHIVES.iter().any(|ending| lower.ends_with(ending))
        && rest
            .chars()
            .all(|it| is_of_name(it) || "[],<>=!~*+() ".contains(it))
        && !rest.contains(" -")
        && marker
            .chars()
            .all(|it| is_of_name(it) || "<>=!~*+() '\"".contains(it))
        && !marker.contains(" -")
        && parts.all(is_hash)
}

fn is_hash(text: &str) -> bool {
    let digits = text.trim().strip_prefix("sha256:").unwrap_or_default();
    digits.len() == 64 && digits.chars().all(|it| it.is_ascii_hexdigit())
}

/// Refuses a version of Python that could be the path of a program.
///
/// # Errors
/// If it is not like `3.12` or `3.14.0rc1`.
pub(super) fn refuse_python(version: &str) -> Result<(), StackError> {
    let numbers = version.trim_end_matches('t');
    let numbers = numbers
        .find(|it: char| it.is_ascii_lowercase())
        .map_or(numbers, |at| {
            let (numbers, rest) = numbers.split_at(at);
            let number = ["rc", "a", "b"]
                .iter()
                .find_map(|name| rest.strip_prefix(name));
            number.filter(|it| is_number(it)).map_or("", |_| numbers)
        });
    if numbers.split('.').all(is_number) {
        return Ok(());
    }
    Err(StackError::NotAPython {
        text: version.to_owned(),
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_versions_markers_and_hashes_are_fine() {
        let hash = "0123456789abcdef".repeat(4);
        let hashed = format!("numpy==2.1.3 --hash=sha256:{hash} --hash=sha256:{hash}");
        for line in [
            "numpy",
            "numpy>=1.24,<2.3",
            "dask[array, dataframe]==2026.8.0",
            "torch==2.1.0+cpu",
            "zope.interface (>=5)",
            "tomli==2.0 ; python_full_version < '3.11'",
            "a~=1.0;sys_platform=='linux' and (extra == \"x-y\")",
            hashed.as_str(),
        ] {
            assert!(names_package(line), "{line}");
        }
    }

    #[test]
    fn what_executes_code_or_takes_packages_from_elsewhere_is_not() {
        for line in [
            "",
            "-e .",
            "--editable=.",
            "-r other.txt",
            "-cother.txt",
            "--index-url https://example.org/simple",
            "-i https://example.org/simple",
            "--extra-index-url=https://example.org",
            "--find-links ./packages",
            "-f ./packages",
            "--trusted-host example.org",
            "--pre",
            "numpy --index-url https://example.org",
            "numpy==1 --no-binary=:all:",
            "numpy; python_version > '3' --find-links=x",
            "numpy --hash=sha256:12",
            "numpy --hash=md5:0123456789abcdef",
            "numpy @ https://example.org/numpy.whl",
            "numpy@file:///tmp/numpy",
            "git+https://example.org/numpy",
            "file:///tmp/numpy",
            "./numpy",
            ".",
            "../numpy",
            "/tmp/numpy",
            "folder/numpy",
            "folder\\numpy",
            "~/numpy",
            "numpy-1.0.tar.gz",
            "numpy-1.0-py3-none-any.WHL",
            "numpy.zip[extra]",
            "${HOME}",
            "numpy==${VERSION}",
            "numpy\n-e .",
            "numpy\r--pre",
            "numpy \\",
            "numpy # comment\n--pre",
            "numpy\t--pre",
        ] {
            assert!(!names_package(line), "{line}");
        }
    }

    #[test]
    fn a_version_of_python_is_no_path() {
        for (text, is_one) in [
            ("3.12", true),
            ("3", true),
            ("3.14.0rc1", true),
            ("3.13t", true),
            ("", false),
            ("./python", false),
            ("python", false),
            ("3evil", false),
            ("3.12/bin/python", false),
            ("3.12rc", false),
            ("--help", false),
        ] {
            assert_eq!(refuse_python(text).is_ok(), is_one, "{text}");
        }
    }
}
