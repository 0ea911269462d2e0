//! `lapwing study split`: a factor for each change of one.

use std::fs;

use tempfile::TempDir;

use crate::program::{output, run};

const PATCH: &str = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n";

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let suite = "suite = \"t\"\n[benchmark.one]\ncommand = \"true\"\n[factor.both]\napply.patch = \"both.patch\"\n\
                 [factor.one]\napply.arguments = [\"-a\"]\n";
    fs::write(folder.path().join("lapwing.toml"), suite).unwrap();
    fs::write(folder.path().join("both.patch"), PATCH).unwrap();
    folder
}

#[test]
fn hunks_become_factors_with_patches_of_their_own() {
    let folder = folder();
    let before = fs::read_to_string(folder.path().join("lapwing.toml")).unwrap();
    run(folder.path(), &["study", "split", "both", "--dry-run"]);
    let untouched = fs::read_to_string(folder.path().join("lapwing.toml")).unwrap();
    assert_eq!(before, untouched);
    let text = run(folder.path(), &["study", "split", "both"]);
    assert!(
        text.contains("`both` is now 2 factors in lapwing.toml"),
        "{text}"
    );
    let suite = fs::read_to_string(folder.path().join("lapwing.toml")).unwrap();
    assert!(suite.contains("patch = \"both-2.patch\""), "{suite}");
    let second = fs::read_to_string(folder.path().join("both-2.patch")).unwrap();
    assert_eq!(second, "--- a/x\n+++ b/x\n@@ -9 +9 @@\n-c\n+d\n");
    // The suite can be designed with.
    let design = run(folder.path(), &["study", "design", "--kind", "full"]);
    assert!(design.contains("both-1"), "{design}");
}

#[test]
fn a_file_that_is_there_is_not_overwritten_and_the_suite_stays() {
    let folder = folder();
    fs::write(folder.path().join("both-1.patch"), "mine").unwrap();
    let refused = output(folder.path(), &["study", "split", "both"]);
    assert!(!refused.status.success());
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(
        told.contains("both-1.patch") && told.contains("lapwing.toml was not changed"),
        "{told}"
    );
    let mine = fs::read_to_string(folder.path().join("both-1.patch")).unwrap();
    assert_eq!(mine, "mine");
    let suite = fs::read_to_string(folder.path().join("lapwing.toml")).unwrap();
    assert!(suite.contains("[factor.both]"), "{suite}");
    let refused = output(folder.path(), &["study", "split", "one"]);
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.contains("changes one thing"), "{told}");
}
