//! The JSON schema of suite files says what the reader of suite files says.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{output, run};

fn schema() -> Value {
    let folder = TempDir::new().unwrap();
    serde_json::from_slice(&output(folder.path(), &["self", "schema", "suite"]).stdout).unwrap()
}

/// Calls `visit` with the path of each table of a suite and with its schema.
fn tables<'a>(schema: &'a Value, path: &str, visit: &mut dyn FnMut(&str, &'a Value)) {
    if schema["properties"].is_object() {
        visit(path, schema);
    }
    for (key, own) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        tables(own, &path, visit);
    }
    if schema["additionalProperties"].is_object() {
        tables(
            &schema["additionalProperties"],
            &format!("{path}.any"),
            visit,
        );
    }
}

/// Returns what is wrong with a suite that has this line, and nothing but a benchmark besides.
fn complaint(folder: &Path, path: &str, line: &str) -> String {
    let benchmark = match path {
        _ if !path.starts_with("benchmark") => "[benchmark.any]\ncommand = 'true'\n",
        "benchmark.any" if line.starts_with("pytest") || line.starts_with("python") => {
            "pytest = 'x.py'\n"
        }
        "benchmark.any" if !line.starts_with("command") => "command = 'true'\n",
        _ => "",
    };
    let text = match path {
        "" => format!("{line}\n{benchmark}"),
        "factor.any" if !line.starts_with("apply") => {
            format!("{benchmark}[{path}]\n{line}\napply.arguments = ['-x']\n")
        }
        "benchmark.any" => format!("[{path}]\n{line}\n{benchmark}"),
        _ => format!("{benchmark}[{path}]\n{line}\n"),
    };
    fs::write(folder.join("lapwing.toml"), text).unwrap();
    String::from_utf8(output(folder, &["run", "--dry-run"]).stderr).unwrap()
}

#[test]
fn every_key_of_the_schema_is_known_and_no_other() {
    let schema = schema();
    let folder = TempDir::new().unwrap();
    let mut keys = 0;
    tables(&schema, "", &mut |path, table| {
        assert_eq!(table["additionalProperties"], false, "{path}");
        // Tables of tables are not read without their key.
        for key in table["properties"].as_object().unwrap().keys() {
            let beside = if key == "take" { "regex = 'x'\n" } else { "" };
            let line = format!("{beside}{key} = 2026-01-01");
            let told = complaint(folder.path(), path, &line);
            assert!(!told.contains("unknown key"), "{path}.{key}: {told}");
            assert!(!told.is_empty(), "{path}.{key}");
            keys += 1;
        }
        if !matches!(path, "executor" | "executor.command" | "executor.ssh") {
            let told = complaint(folder.path(), path, "unheard_of = 1");
            assert!(told.contains("unknown key `unheard_of`"), "{path}: {told}");
        }
    });
    assert!(keys > 100, "{keys}");
}

/// Returns the keys of a suite that a schema does not have.
fn unknown(suite: &toml_edit::Item, schema: &Value, path: &str, found: &mut Vec<String>) {
    let Some(table) = suite.as_table_like() else {
        return;
    };
    for (key, item) in table.iter() {
        let own = match &schema["properties"][key] {
            Value::Null => &schema["additionalProperties"],
            own => own,
        };
        let path = format!("{path}.{key}");
        match own {
            Value::Bool(false) => found.push(path),
            own if own["properties"].is_object() || own["additionalProperties"].is_object() => {
                unknown(item, own, &path, found);
            }
            _ => {}
        }
    }
}

#[test]
fn examples_and_the_new_suite_follow_the_schema() {
    let schema = schema();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<_> = [
        "compressors",
        "parsl",
        "kubernetes",
        "indicators",
        "workloads",
        "nightly/project",
    ]
    .iter()
    .map(|name| examples.join(name).join("lapwing.toml"))
    .collect();
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["init"]);
    files.push(folder.path().join("lapwing.toml"));
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let suite: toml_edit::DocumentMut = text.parse().unwrap();
        let mut found = Vec::new();
        unknown(suite.as_item(), &schema, "", &mut found);
        assert_eq!(found, Vec::<String>::new(), "{}", file.display());
    }
}

#[test]
fn manual_pages_are_written() {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["self", "man", "pages"]);
    let page = fs::read_to_string(folder.path().join("pages/lapwing-study-design.1")).unwrap();
    assert!(page.contains(".TH lapwing-study-design"), "{page}");
    let page = fs::read_to_string(folder.path().join("pages/lapwing-run.1")).unwrap();
    assert!(page.contains("\\-\\-burn\\-in"), "{page}");
}
