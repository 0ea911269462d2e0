//! The walk-through of `docs/hail.md` on a large Hail file, by the real program: import, burn-in,
//! cleaning with its audit, variability, a comparison of two halves, pages.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use lapwing_testing::reference_data;
use serde_json::Value;

fn lapwing(folder: &Path, words: &[&str]) -> String {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{words:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn answer(folder: &Path, words: &[&str]) -> Value {
    let words = [words, &["--format", "json"]].concat();
    serde_json::from_str(&lapwing(folder, &words)).unwrap()
}

#[test]
fn a_large_file_goes_from_import_to_a_comparison_of_its_halves() {
    let Some(hail) = reference_data("hail") else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let file = |name: &str| hail.join(name).display().to_string();
    lapwing(folder, &["import", &file("benchmarks.jsonl.gz")]);

    lapwing(folder, &["burn-in", "--output", "starts.json"]);
    let text = std::fs::read_to_string(folder.join("starts.json")).unwrap();
    let ours: BTreeMap<String, u32> = serde_json::from_str(&text).unwrap();
    assert!(ours.len() >= 10, "{ours:?}");

    let theirs = file("first_stable_index.json");
    let theirs = format!("burn_in_file={theirs}");
    let as_hail = ["--compat", "hail", "--clean", &theirs];
    let words = [
        &["compare", "--split", "halves", "--metric", "wall_time"],
        as_hail.as_slice(),
    ];
    let compared = answer(folder, &words.concat());
    let rows = compared["comparisons"].as_array().unwrap();
    // What is viable under Hail's limits of 50 and 50.
    assert_eq!(rows.len(), 11);
    assert!(rows.iter().all(|row| row["changed"] == Value::Bool(false)));
    let funnel: Vec<u64> = compared["audit"]["funnel"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stage| stage["iterations"].as_u64().unwrap())
        .collect();
    assert_eq!((funnel[0], *funnel.last().unwrap()), (61_828, 46_310));

    // Nothing differs between the halves, whichever method looks at them. Ranks and means disagree
    // about tails, but not about this.
    for method in ["default", "hierarchical", "mann-whitney", "brunner-munzel"] {
        let words = [
            "compare", "--split", "halves", "--clean", &theirs, "--method", method,
        ];
        let compared = answer(folder, &words);
        let rows = compared["comparisons"].as_array().unwrap();
        // 13 benchmarks by time and by memory.
        assert_eq!(rows.len(), 26, "{method}");
        let found = |verdict: &str| rows.iter().any(|row| row["verdict"] == verdict);
        assert!(!found("regression") && !found("improvement"), "{method}");
    }

    lapwing(folder, &["report", "--clean", "burn_in_file=starts.json"]);
    for page in ["index", "cleaning", "burn-in", "variability"] {
        let page = folder.join(format!("lapwing-report/{page}.html"));
        assert!(page.is_file(), "{}", page.display());
    }
}
