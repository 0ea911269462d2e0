//! The page of stacks in a report: what `lapwing advise` says, which versions ran, and what failed.

use std::fs;
use std::path::Path;

use lapwing_testing::RecordLines;
use serde_json::json;
use tempfile::TempDir;

use crate::advise;
use crate::program::{output, run};

/// Returns a page of a new report of the store, or nothing if it has none.
fn page(folder: &Path, name: &str) -> String {
    let told = run(folder, &["report"]);
    assert!(told.ends_with("exit 0"), "{told}");
    fs::read_to_string(folder.join("lapwing-report").join(name)).unwrap_or_default()
}

fn first_line(folder: &Path, arguments: &[&str]) -> String {
    let output = output(folder, arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().next().unwrap().to_owned()
}

#[test]
fn the_page_of_stacks_says_what_advise_says() {
    let folder = advise::measured();
    let told = first_line(
        folder.path(),
        &["advise", "numpy", "scipy", "--goal", "elapsed"],
    );
    let shown = page(folder.path(), "stacks.html");
    assert!(
        shown.contains(&format!("<h1>{told}</h1>")),
        "{told}\n{shown}"
    );
    assert!(
        shown.contains("<code>lapwing advise numpy scipy --goal elapsed</code>"),
        "{shown}"
    );
    // Stacks that always or once failed.
    assert!(
        shown.contains("numpy==2.10.0 scipy==1.11.4 python==3.11</th><td class=\"failed\">✗ 3 of 3 instances failed"),
        "{shown}"
    );
    assert!(
        shown.contains("numpy==2.1.3 scipy==1.13.1 python==3.11</th><td class=\"failed\">✗ 1 of 3 instances failed"),
        "{shown}"
    );
    // The index has the same answer, and so have the other metrics of the goal.
    let index = page(folder.path(), "index.html");
    assert!(index.contains(&format!("<h1>{told}</h1>")), "{index}");
    assert!(index.contains("href=\"stacks.html#failures\""), "{index}");
    let rate = first_line(
        folder.path(),
        &["advise", "numpy", "scipy", "--goal", "rate"],
    );
    assert!(shown.contains(&rate), "{rate}\n{shown}");
}

#[test]
fn stacks_that_do_not_resolve_are_listed_with_the_reason() {
    let record = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/indicators/record.jsonl.gz"
    );
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &["import", record]);
    let shown = page(folder.path(), "stacks.html");
    assert!(shown.contains("✗ does not resolve"), "{shown}");
    assert!(
        shown.contains("scipy==1.14.1 depends on numpy&gt;=1.23.5,&lt;2.3"),
        "{shown}"
    );
    // A combination in the matrix.
    assert!(
        shown.contains(
            "title=\"numpy==2.2.6 scipy==1.14.1 python==3.11.7: 4 instances\">advised</td>"
        ),
        "{shown}"
    );
}

/// A store of one benchmark with these runs, each with its factors.
fn store(runs: &[serde_json::Value]) -> TempDir {
    let mut lines = RecordLines::default();
    let session = lines.session("2026-01-01T00:00:00Z", json!({}));
    for (at, factors) in runs.iter().enumerate() {
        let more = json!({"variant": format!("v{at}"), "factors": factors});
        let measured = lines.run(&session, more);
        for _ in 0..3 {
            let id = lines.instance(&measured, "b", json!({}));
            lines.iteration(&id, 0, json!({"metrics": {"wall_time": 1.0}}));
            lines.instance_end(&id);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("all.jsonl"), lines.text).unwrap();
    run(folder.path(), &["import", "all.jsonl"]);
    folder
}

#[test]
fn factors_that_are_no_versions_or_one_stack_make_no_page_of_stacks() {
    for factors in [
        json!({}),
        json!({"share": 0.5}),
        json!({"mode": "fast", "n": "1.5"}),
        // A single stack is only where the measurements were made.
        json!({"numpy": "2.1.3"}),
    ] {
        let folder = store(&[factors.clone(), factors]);
        assert_eq!(page(folder.path(), "stacks.html"), "");
        assert!(!page(folder.path(), "index.html").contains("stacks.html"));
    }
}

#[test]
fn two_stacks_have_a_page_that_says_what_is_missing() {
    let folder = store(&[json!({"numpy": "2.1.3"}), json!({"numpy": "2.2.0"})]);
    let shown = page(folder.path(), "stacks.html");
    assert!(
        shown.contains("all alike or too few to compare</h1>"),
        "{shown}"
    );
}
