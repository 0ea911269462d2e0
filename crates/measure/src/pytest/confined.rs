//! Keeps pytest from taking up configuration files that are not the commit's.
//!
//! pytest looks for its configuration in the folder of the tests and in all folders above, and the file that it finds
//! says what else is read: `pythonpath`, `conftest.py`. A commit that has none must not get one from elsewhere.

use std::fs;
use std::path::Path;

use super::super::repository::source::CommitFolder;

/// Files that are pytest's own, whatever is in them.
const OWN: [&str; 4] = ["pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"];
/// Files that may have a section for pytest, and what its line is.
const SHARED: [(&str, &str); 2] = [("tox.ini", "[pytest]"), ("setup.cfg", "[tool:pytest]")];

/// Returns the options that keep pytest within a commit's folder: none where the commit says itself how it is to be
/// tested, or the suite does.
pub(super) fn options(
    place: &CommitFolder,
    root: &Path,
    id: &str,
    arguments: &[String],
) -> Vec<String> {
    let test = root.join(id.split("::").next().unwrap_or_default());
    let is_within = root.starts_with(&place.folder);
    let is_said = arguments.iter().any(|it| is_configuration(it));
    let is_configured = test
        .ancestors()
        .skip(1)
        .take_while(|it| it.starts_with(&place.folder))
        .any(configures);
    if !is_within || is_said || is_configured {
        return Vec::new();
    }
    vec![
        "-c".to_owned(),
        "/dev/null".to_owned(),
        format!("--confcutdir={}", root.display()),
    ]
}

fn is_configuration(argument: &str) -> bool {
    let is_short = argument.starts_with("-c");
    is_short || argument == "--config-file" || argument.starts_with("--config-file=")
}

/// Returns whether a folder has a file that configures pytest.
fn configures(folder: &Path) -> bool {
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    if OWN.iter().any(|name| folder.join(name).is_file()) {
        return true;
    }
    if SHARED
        .iter()
        .any(|(name, section)| text(name).lines().any(|line| line.trim() == *section))
    {
        return true;
    }
    match text("pyproject.toml").parse::<toml::Table>() {
        Ok(project) => project
            .get("tool")
            .is_some_and(|it| it.get("pytest").is_some()),
        // pytest says what is wrong with it.
        Err(_broken) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pytest_reads_nothing_above_a_commit_that_does_not_configure_it() {
        let found = |file: &str, text: &str, arguments: &[&str]| {
            let folder = tempfile::tempdir().expect("a folder");
            let top = folder.path().join("commit");
            fs::create_dir_all(top.join("sub/tests")).expect("made");
            fs::write(top.join(file), text).expect("written");
            let place = CommitFolder {
                repository: "/repository".into(),
                folder: top.clone(),
            };
            let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
            let root = top.join("sub");
            let options = options(&place, &root, "tests/test_a.py::test_it[a/b]", &arguments);
            options
                .join(" ")
                .replace(&root.display().to_string(), "ROOT")
        };
        let confined = "-c /dev/null --confcutdir=ROOT";
        for (file, text) in [
            ("readme", ""),
            ("../pytest.ini", ""),
            ("tox.ini", "[tox]\n"),
            ("pyproject.toml", "[tool.black]\n"),
        ] {
            assert_eq!(found(file, text, &["-x"]), confined, "{file}");
        }
        for (file, text) in [
            ("pytest.ini", ""),
            ("sub/.pytest.ini", ""),
            ("sub/tests/pytest.toml", ""),
            ("tox.ini", "[tox]\n[pytest]\n"),
            ("setup.cfg", "[tool:pytest]\n"),
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\nminversion = '7'",
            ),
            ("pyproject.toml", "broken"),
        ] {
            assert_eq!(found(file, text, &[]), "", "{file}");
        }
        assert_eq!(found("readme", "", &["-c", "own.ini"]), "");
        assert_eq!(found("readme", "", &["--config-file=own.ini"]), "");
    }
}
