//! How many lines commits changed.

use std::collections::BTreeMap;
use std::path::Path;

use super::git::{git, output};

/// Names of files without code end so.
const PROSE: [&str; 3] = [".md", ".rst", ".txt"];

/// Returns how many lines of code each commit after one up to another changed against its first parent, by their hashes;
/// empty if the repository does not have them.
pub fn changed_lines(repository: &Path, after: &str, up_to: &str) -> BTreeMap<String, u64> {
    let range = format!("{after}..{up_to}");
    let told = output(git(repository).args([
        "log",
        "--first-parent",
        "-m",
        "--no-renames",
        "--numstat",
        "--format=commit %H",
        "--end-of-options",
        &range,
    ]));
    parsed(&told.unwrap_or_default())
}

fn parsed(told: &str) -> BTreeMap<String, u64> {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    let mut commit = String::new();
    for line in told.lines() {
        if let Some(hash) = line.strip_prefix("commit ") {
            hash.clone_into(&mut commit);
            lines.entry(commit.clone()).or_default();
            continue;
        }
        // A binary file has `-` instead of numbers.
        let mut fields = line.splitn(3, '\t');
        let numbers =
            [fields.next(), fields.next()].map(|it| it.and_then(|it| it.parse::<u64>().ok()));
        let path = fields.next().unwrap_or_default();
        if let [Some(added), Some(removed)] = numbers
            && !PROSE.iter().any(|end| path.ends_with(end))
        {
            *lines.entry(commit.clone()).or_default() += added + removed;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_code_are_counted() {
        let told = "commit a1\n\n10\t2\tsrc/a.py\n3\t0\tREADME.md\n-\t-\tlogo.png\ncommit b2\n";
        let lines = parsed(told);
        assert_eq!(lines["a1"], 12);
        assert_eq!(lines["b2"], 0);
    }
}
