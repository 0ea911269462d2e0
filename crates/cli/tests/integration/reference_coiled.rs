//! Coiled's detector on its published database, against another implementation of it.

use lapwing_testing::reference_data;
use serde_json::{Value, json};

use crate::nights_fixture::findings;
use crate::program::{output, run};

/// Bytes of a GiB, in which the expected values of memory are.
const GIB: f64 = 1_073_741_824.0;

fn detect(folder: &std::path::Path, last: &str) -> Value {
    let words = [
        "detect", "--full", "--compat", "coiled", "--last", last, "--format", "json",
    ];
    let output = output(folder, &words);
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn alarms_are_those_of_coileds_detector() {
    let Some(coiled) = reference_data("coiled") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let database = coiled.join("benchmark_reconstructed.db");
    run(folder, &["import", &database.display().to_string()]);
    let expected = std::fs::read(coiled.join("expected_detect_regressions.json")).unwrap();
    let expected: Value = serde_json::from_slice(&expected).unwrap();
    for last in ["3", "1"] {
        let expected = &expected[format!("n_last_{last}")];
        let found = detect(folder, last);
        let tested = found["series"].as_array().unwrap().iter();
        let tested = tested.filter(|series| series["state"] == "tested").count();
        assert_eq!(json!(tested), expected["eligible_series"], "{last}");
        let mut alarms = findings(&found);
        let series = found["series"].as_array().unwrap();
        alarms.sort_by_key(|alarm| {
            let same = |key: &str, it: &Value| it[key] == alarm[key];
            let is_its = |it: &Value| same("benchmark", it) && same("metric", it);
            series.iter().position(is_its)
        });
        let regressions = expected["regressions"].as_array().unwrap();
        assert_eq!(alarms.len(), regressions.len(), "{alarms:?}");
        for (alarm, regression) in alarms.iter().zip(regressions) {
            let (metric, unit) = match alarm["metric"].as_str().unwrap() {
                "wall_time" => ("duration", 1.0),
                memory => (memory, GIB),
            };
            assert_eq!(alarm["benchmark"], regression["name"]);
            assert_eq!(metric, regression["metric"]);
            let pairs = [
                (&alarm["mean_before"], "mean"),
                (&alarm["deviation_before"], "std"),
                (&alarm["threshold"], "threshold"),
                (&alarm["latest"][0], "last"),
                (&alarm["latest"][1], "last_1"),
                (&alarm["latest"][2], "last_2"),
            ];
            for (ours, theirs) in pairs {
                let ours = ours.as_f64().unwrap() / unit;
                let theirs = regression[theirs].as_f64().unwrap();
                assert!((ours / theirs - 1.0).abs() < 1e-12, "{ours} {theirs}");
            }
        }
    }
}
