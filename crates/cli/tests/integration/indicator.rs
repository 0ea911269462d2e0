//! Indicators: their contract, how they are measured, and inspections of Amun.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use lapwing_testing::reference_data;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{output, run};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/amun");

fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Prints a document whose parameter is the variable SIZE, and whose result says what the script sees.
const GOOD: &str = r#"echo "SIZE set to ${SIZE:-8}" >&2
seen=0; [ -z "$SECRET" ] || seen=1
echo "{\"name\": \"Copy\", \"framework\": \"cat\", \"@parameters\": {\"size\": ${SIZE:-8}}, \"@result\": {\"elapsed\": 0.5, \"secret\": $seen},
\"overall_score\": 2, \"@metrics\": {\"elapsed\": {\"unit\": \"s\", \"better\": \"lower\"}, \"secret\": {\"better\": \"lower\"}, \"overall_score\": {\"better\": \"higher\"}}}""#;

fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    let output = output(folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// Returns the iterations of the store as objects.
fn iterations(folder: &Path) -> Vec<Value> {
    let all = json_of(folder, &["export", "--to", "json"]);
    all.as_array().unwrap().clone()
}

#[test]
fn check_reports_every_breach_with_a_hint() {
    let folder = TempDir::new().unwrap();
    script(folder.path(), "good", GOOD);
    script(
        folder.path(),
        "bad",
        r#"echo ready; echo '{"component": "cat", "@parameters": {"x": 1}, "@result": {"x": 2}}'"#,
    );
    script(folder.path(), "fails", "echo no such file >&2; exit 3");
    let told = run(folder.path(), &["indicator", "check", "good"]);
    insta::assert_snapshot!(told, @"
    good: keeps to the contract
    benchmark: Copy/cat[size=8]
    exit 0
    ");
    let told = run(folder.path(), &["indicator", "check", "bad", "fails"]);
    insta::assert_snapshot!(told, @r#"
    2 of 2 scripts breach the contract
    bad: 3 breaches
    breach: standard output must be exactly one JSON object, but has other text too
    → print progress and logs to standard error
    breach: `name` is missing → name, framework, @parameters and @result are
    required
    breach: in both `@parameters` and `@result`: x → rename one: parameters and
    results are columns of one table
    warning: the framework is given as `component` → accepted; the documented key is
    `framework`
    warning: there is no `overall_score` → optional: one number for the whole
    result, for comparisons across indicators
    warning: no unit and direction declared for x → declare them: "@metrics":
    {"elapsed": {"unit": "s", "better": "lower"}}; or use --better
    fails: 1 breach
    breach: the script failed: exit code 3: no such file → run the script by hand;
    it gets a cleared environment and a limit of memory (--keep-env, --memory-limit)
    exit 1
    "#);
    let told = run(
        folder.path(),
        &["indicator", "check", "good", "--param", "width=3"],
    );
    assert!(
        told.contains("WIDTH was given, but `@parameters` has no such key"),
        "{told}"
    );
}

#[test]
fn scripts_of_one_identity_or_of_mixed_types_are_found() {
    let folder = TempDir::new().unwrap();
    script(folder.path(), "one", GOOD);
    script(folder.path(), "other", &format!("{GOOD}\n# another text"));
    script(
        folder.path(),
        "text",
        &GOOD.replace("${SIZE:-8}}", "\\\"large\\\"}"),
    );
    let told = run(
        folder.path(),
        &["indicator", "check", "one", "other", "text"],
    );
    assert!(
        told.contains(
            "`Copy/cat[size=8]` is also the identity of one, which is a different\nscript"
        ),
        "{told}"
    );
    assert!(
        told.contains("`size` is a text here and a number in one"),
        "{told}"
    );
    let told = run(folder.path(), &["indicator", "run", "one", "other"]);
    assert!(
        told.contains("and another script are both Copy/cat[size=8]"),
        "{told}"
    );
}

#[test]
fn parameters_make_benchmarks_and_results_metrics() {
    let folder = TempDir::new().unwrap();
    script(folder.path(), "good", GOOD);
    let done = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args([
            "indicator",
            "run",
            "good",
            "--param",
            "size=3,4",
            "-n",
            "3",
            "-i",
            "2",
        ])
        .args(["--seed", "1", "--quiet"])
        .env("SECRET", "password")
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{said}");
    let all = iterations(folder.path());
    // Two benchmarks, three instances, one burn-in and two iterations each.
    assert_eq!(all.len(), 2 * 3 * 3);
    let mut ids: Vec<&str> = all
        .iter()
        .map(|it| it["benchmark"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids, ["Copy/cat[size=3]", "Copy/cat[size=4]"]);
    for iteration in &all {
        assert_eq!(iteration["outcome"], "ok");
        let metrics = &iteration["metrics"];
        assert_eq!(
            [
                &metrics["elapsed"],
                &metrics["secret"],
                &metrics["overall_score"]
            ],
            [&json!(0.5), &json!(0.0), &json!(2.0)],
            "variables are cleared"
        );
        assert!(metrics["wall_time"].as_f64().unwrap() > 0.0);
    }
    let list = json_of(folder.path(), &["indicator", "list", "--format", "json"]);
    assert_eq!(list["indicators"][0]["framework"], "cat");
    let query = [
        "indicator",
        "query",
        "--param",
        "size=4",
        "--metric",
        "elapsed",
        "--format",
        "json",
    ];
    let rows = json_of(folder.path(), &query);
    let row = &rows["rows"][0];
    assert_eq!(
        json!([row["indicator"], row["mean"], row["unit"], row["instances"]]),
        json!(["Copy/cat[size=4]", 0.5, "s", 3])
    );
    let none = output(
        folder.path(),
        &[&query[..], &["--package", "numpy"]].concat(),
    );
    assert_eq!(none.status.code(), Some(3));
}

#[test]
fn an_interrupted_session_of_indicators_is_resumed() {
    let folder = TempDir::new().unwrap();
    script(folder.path(), "good", GOOD);
    let path = folder.path();
    run(
        path,
        &[
            "indicator",
            "run",
            "good",
            "-n",
            "3",
            "-i",
            "1",
            "--name",
            "x",
        ],
    );
    let told = run(path, &["indicator", "run", "--resume", "x"]);
    assert!(told.contains("session `x` is complete"), "{told}");
}

#[test]
fn a_script_that_ignores_a_parameter_or_changes_is_not_measured() {
    let folder = TempDir::new().unwrap();
    script(folder.path(), "fixed", &GOOD.replace("${SIZE:-8}", "8"));
    let told = run(
        folder.path(),
        &["indicator", "run", "fixed", "--param", "size=9"],
    );
    assert!(
        told.contains("SIZE=9 was given, but `@parameters` reports `size` as 8"),
        "{told}"
    );
    assert!(told.ends_with("exit 4"), "{told}");
    // The first execution is the check.
    script(
        folder.path(),
        "changing",
        &format!("[ ! -e seen ] || SIZE=9\ntouch seen\n{GOOD}"),
    );
    let told = run(
        folder.path(),
        &["indicator", "run", "changing", "-n", "1", "-i", "1"],
    );
    assert!(told.ends_with("exit 4"), "{told}");
    let messages: Vec<Value> = iterations(folder.path())
        .iter()
        .map(|it| it["message"].clone())
        .collect();
    let text = messages[0].as_str().unwrap();
    assert!(
        text.starts_with("the script reports the results of Copy/cat[size=9]"),
        "{text}"
    );
}

#[test]
fn time_and_memory_of_scripts_are_limited() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    script(path, "slow", "sleep 60");
    let told = run(
        path,
        &["indicator", "check", "slow", "--time-limit", "200ms"],
    );
    assert!(told.contains("ended at its time limit of 200ms"), "{told}");
    let large = "import json\nhold = bytearray(300 << 20)\n\
        print(json.dumps({'name': 'Large', 'framework': 'python', '@parameters': {}, '@result': {'size': len(hold)}}))\n";
    fs::write(path.join("large.py"), large).unwrap();
    let told = run(path, &["indicator", "check", "large.py"]);
    assert!(told.ends_with("exit 0"), "{told}");
    let told = run(
        path,
        &["indicator", "check", "large.py", "--memory-limit", "256MiB"],
    );
    assert!(told.contains("exit code 1: MemoryError"), "{told}");
    // It cannot be raised.
    let raising = format!(
        "import resource\ntry:\n    resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))\nexcept ValueError:\n    pass\n{large}"
    );
    fs::write(path.join("raising.py"), raising).unwrap();
    let told = run(
        path,
        &[
            "indicator",
            "check",
            "raising.py",
            "--memory-limit",
            "256MiB",
        ],
    );
    assert!(told.contains("exit code 1"), "{told}");
}

/// Returns the files of results and specifications below a folder, by their paths.
fn documents(folder: &Path) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.ends_with("result")
                || path.ends_with("specification")
                || path.ends_with("hwinfo")
            {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                let text = fs::read_to_string(&path).unwrap();
                found.insert(name, serde_json::from_str(&text).unwrap());
            }
        }
    }
    found
}

/// Imports a path and exports it again; returns the documents by their paths.
fn round_trip(path: &Path) -> BTreeMap<String, Value> {
    let folder = TempDir::new().unwrap();
    let told = run(folder.path(), &["import", &path.display().to_string()]);
    assert!(told.ends_with("exit 0"), "{told}");
    let told = run(folder.path(), &["export", "--to", "amun", "-o", "out"]);
    assert!(told.ends_with("exit 0"), "{told}");
    documents(&folder.path().join("out"))
}

/// Returns the documents of the folder of an inspection, by paths that begin with its name.
fn of_folder(path: &Path) -> BTreeMap<String, Value> {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let documents = documents(path).into_iter();
    documents
        .map(|(path, document)| (format!("{name}/{path}"), document))
        .collect()
}

/// Returns the documents of an old inspection as folders have them.
fn of_old_document(path: &Path) -> BTreeMap<String, Value> {
    let whole: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let id = whole["inspection_id"].as_str().unwrap();
    let mut all = BTreeMap::from([(
        format!("{id}/build/specification"),
        whole["specification"].clone(),
    )]);
    for (number, log) in whole["job_logs"].as_array().unwrap().iter().enumerate() {
        all.insert(
            format!("{id}/results/{number}/hwinfo"),
            log["hwinfo"].clone(),
        );
        // Old results had no host: they get none.
        all.insert(format!("{id}/results/{number}/result"), log.clone());
    }
    all
}

#[test]
fn inspections_come_back_as_they_were() {
    let fixtures = Path::new(FIXTURES);
    let folder = fixtures.join("inspection-mix-0a1b2c3d");
    assert_eq!(round_trip(&folder), of_folder(&folder));
    let old = fixtures.join("old.json");
    assert_eq!(round_trip(&old), of_old_document(&old));
}

#[test]
fn published_inspections_come_back_as_they_were() {
    let Some(data) = reference_data("thoth") else {
        return;
    };
    let folder = data.join("inspection-rhtf-conv2d-0f845f38");
    assert_eq!(round_trip(&folder), without_home(&of_folder(&folder)));
    let old = data.join("inspection-test-e666815e.json");
    assert_eq!(round_trip(&old), without_home(&of_old_document(&old)));
}

/// Returns documents as they are kept: home folders have no name.
fn without_home(documents: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let text = serde_json::to_string(documents).unwrap();
    serde_json::from_str(&text.replace("/home/amun", "~")).unwrap()
}

#[test]
fn own_measurements_become_inspections_that_can_be_imported() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    script(path, "good", GOOD);
    run(path, &["indicator", "run", "good", "-n", "2", "-i", "1"]);
    let told = run(path, &["export", "--to", "amun", "-o", "out"]);
    assert!(
        told.contains("wrote out (4 results of 1 inspection)"),
        "{told}"
    );
    let all = documents(&path.join("out"));
    let specification = all
        .iter()
        .find(|(name, _)| name.ends_with("specification"))
        .unwrap()
        .1;
    assert_eq!(specification["batch_size"], 4);
    assert!(
        specification["script"]
            .as_str()
            .unwrap()
            .starts_with("#!/bin/sh")
    );
    let results: Vec<&Value> = all
        .iter()
        .filter(|(name, _)| name.ends_with("/result"))
        .map(|(_, value)| value)
        .collect();
    assert_eq!(results.len(), 4);
    for result in &results {
        assert_eq!(result["stdout"]["@result"]["elapsed"], 0.5);
        assert_eq!(result["stderr"], "SIZE set to 8\n");
        assert_eq!(result["usage"].as_object().unwrap().len(), 16);
        assert!(result["usage"]["ru_maxrss"].as_u64().unwrap() > 0);
        assert!(result["hwinfo"]["cpu_info"]["count"].as_u64().unwrap() > 0);
        assert!(result["start_datetime"].as_str() < result["end_datetime"].as_str());
    }
    assert!(specification["python"]["requirements"]["requires"]["python_version"].is_string());
    // The same benchmark, whether measured or imported.
    let other = TempDir::new().unwrap();
    let from = path.join("out").display().to_string();
    let told = run(other.path(), &["import", &from]);
    assert!(told.ends_with("exit 0"), "{told}");
    let list = |folder: &Path| {
        let list = json_of(folder, &["indicator", "list", "--format", "json"]);
        let row = &list["indicators"][0];
        json!([row["benchmark"], row["suite"], row["iterations"]])
    };
    assert_eq!(list(other.path()), list(path));
}

#[test]
fn a_framework_that_is_not_installed_is_a_breach() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::write(path.join("beside.py"), "raise SystemExit('imported')\n").unwrap();
    for (framework, is_known) in [
        ("json", true),
        ("Python", true),
        ("beside", true),
        ("besides", false),
    ] {
        let script = format!(
            "import json\nprint(json.dumps({{'name': 'X', 'framework': '{framework}', '@parameters': {{}}, '@result': {{'x': 1}}}}))\n"
        );
        fs::write(path.join("script.py"), script).unwrap();
        let told = run(path, &["indicator", "check", "script.py"]);
        assert_eq!(told.ends_with("exit 0"), is_known, "{told}");
        let breach = format!("`{framework}` is not installed");
        assert_eq!(told.contains(&breach), !is_known, "{told}");
    }
}
