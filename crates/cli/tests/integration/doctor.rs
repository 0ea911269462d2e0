//! `lapwing doctor` on whatever machine this is.

use assert_cmd::Command;
use serde_json::Value;

fn doctor(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lapwing"));
    let output = command.arg("doctor").args(arguments).assert().success();
    String::from_utf8(output.get_output().stdout.clone()).expect("text")
}

#[test]
fn the_json_names_what_was_looked_at() {
    let answer: Value = serde_json::from_str(&doctor(&["--format", "json"])).expect("JSON");
    let findings = answer["findings"].as_array().expect("a list");
    let subjects: Vec<&str> = findings
        .iter()
        .filter_map(|finding| finding["subject"].as_str())
        .collect();
    for always in [
        "noise",
        "load",
        "pressure",
        "governor",
        "virtualisation",
        "swap",
        "clock",
        "disk",
        "peak_memory",
        "cgroup_peak_memory",
        "instructions",
        "cycles",
        "isolation_files",
        "isolation_processes",
        "isolation_network",
        "isolation_memory",
        "isolation_process_count",
        "simulation",
    ] {
        assert!(subjects.contains(&always), "{always} in {subjects:?}");
    }
    assert_eq!(answer["noise"]["executions"], 50);
    assert!(answer["noise"]["median"].as_f64() > Some(0.0));
    assert!(answer["noise"]["detectable"].as_f64() > Some(0.0));
    let verdict = answer["verdict"].as_str().unwrap();
    assert!(["suitable", "unsuitable"].contains(&verdict), "{answer}");
    let noise = &findings[0];
    assert_eq!(noise["values"]["spread"], answer["noise"]["spread"]);
}

#[test]
fn the_text_begins_with_the_conclusion() {
    let text = doctor(&[]);
    let first = text.lines().next().expect("a line");
    assert!(first.contains("suitable"), "{first}");
    assert!(text.contains("the percentage is computed from"), "{text}");
}
