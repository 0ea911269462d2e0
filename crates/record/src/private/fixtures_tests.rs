//! No pattern matches ordinary text: that of every fixture and snapshot of the workspace.

use std::fs;
use std::path::{Path, PathBuf};

use super::find_secrets;

/// The largest file that is read.
const LARGEST: u64 = 4 << 20;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if entry.metadata().is_ok_and(|it| it.len() <= LARGEST) {
            found.push(path);
        }
    }
}

#[test]
fn the_texts_of_fixtures_and_snapshots_have_no_secrets() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    for folder in ["tests", "crates", "docs", "examples", "python"] {
        files(&root.join(folder), &mut paths);
    }
    let texts = |path: &PathBuf| {
        let is_code = path
            .extension()
            .is_some_and(|it| it == "rs" || it == "py" || it == "js");
        fs::read_to_string(path).ok().filter(|_| !is_code)
    };
    let texts: Vec<String> = paths.iter().filter_map(texts).collect();
    assert!(texts.len() > 300, "{} files", texts.len());
    let mut found = Vec::new();
    for text in &texts {
        for secret in find_secrets(text) {
            found.push(format!("{}: {}", secret.kind, &text[secret.range]));
        }
    }
    // The placeholder of a page.
    assert_eq!(found, ["password in a URL: user:password"]);
}
