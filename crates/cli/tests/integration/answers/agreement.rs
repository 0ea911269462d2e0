//! Text, Markdown, JSON, CSV, page and exit code come from one answer, whatever the names are.

use std::fs;
use std::path::Path;

use lapwing_show::writing::safe;
use lapwing_testing::RecordLines;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::written;
use crate::program::{output, run};

/// Names that would change a terminal, a table, a page or a spreadsheet.
const HOSTILE: [&str; 8] = [
    "red \u{1b}[31m bell \u{7} back\u{8}space",
    "two\nlines\r\nand\ttabs",
    "a|b | c \\| d",
    "<script>alert(1)</script>&amp;",
    "=HYPERLINK(\"http://x\",\"y\")",
    "\"quoted\", 'and' `code`",
    "![x](http://y) **bold** @all",
    "right\u{202e}left zero\u{200b}width é 数",
];

/// Returns a folder with two versions of benchmarks, each slower by its factor.
fn versions(benchmarks: &[(&str, f64)], variant: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut lines = RecordLines::after(0);
    let session = lines.session("2026-11-20T10:00:00Z", json!({"suite": "s", "name": "one"}));
    let runs = ["1.0", "1.1"].map(|version| {
        let version = json!({"variant": variant, "version": {"name": version}});
        lines.run(&session, version)
    });
    for block in 0..6_u32 {
        for (place, (benchmark, factor)) in (0_u32..).zip(benchmarks) {
            for (side, run) in (0_u32..).zip(&runs) {
                let noise = f64::from((block * 7 + place * 3 + side * 5) % 11) / 1000.0;
                let level = if side == 1 { *factor } else { 1.0 };
                let instance =
                    lines.instance(run, benchmark, json!({"block": block, "host": variant}));
                let value = level * (1.0 + noise);
                lines.iteration(&instance, 0, json!({"metrics": {"wall_time": value}}));
                lines.instance_end(&instance);
            }
        }
    }
    fs::write(folder.path().join("in.jsonl"), lines.text).unwrap();
    let done = run(folder.path(), &["import", "in.jsonl"]);
    assert!(done.ends_with("exit 0"), "{done}");
    folder
}

/// Returns the cells of CSV, by the reader of another library than the writer's own types.
fn csv(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let titles = reader.headers().unwrap().len();
    let records = reader.records().map(|it| it.unwrap());
    let rows = records.map(|it| it.iter().map(str::to_owned).collect::<Vec<_>>());
    let rows: Vec<_> = rows.collect();
    assert!(rows.iter().all(|row| row.len() == titles));
    rows
}

#[test]
fn hostile_names_reach_every_reader_unharmed() {
    let benchmarks = HOSTILE.map(|name| (name, 1.0));
    let folder = versions(&benchmarks, HOSTILE[2]);
    for words in [
        "compare version:1.0 version:1.1",
        "list",
        "list runs",
        "show one",
        "variability",
        "burn-in",
        "detect",
        "mds --closed-form",
    ] {
        for format in ["text", "markdown"] {
            let (out, err, _) = written(folder.path(), words, format);
            let is_bad = |it: char| it.is_control() && it != '\n' || it == '\u{202e}';
            assert!(!out.contains(is_bad), "{words} {format}: {out:?}");
            assert!(!err.contains(is_bad), "{words} {format}: {err:?}");
            if format == "markdown" {
                assert!(!out.contains("<script>"), "{out}");
                assert!(!out.replace("\\]", "").contains("](http"), "{out}");
                assert!(!out.contains(" @all"), "{out}");
            }
        }
        let (out, _, _) = written(folder.path(), words, "json");
        let answer: Value = serde_json::from_str(&out).unwrap();
        let is_told = answer["headline"].is_string() || answer["error"].is_string();
        assert!(is_told, "{words}: {answer}");
        let (out, _, _) = written(folder.path(), words, "csv");
        let rows = csv(&out);
        let has_names = answer["error"].is_null() && !["list runs", "detect"].contains(&words);
        if has_names {
            for name in HOSTILE.map(safe) {
                let is_there = rows.iter().flatten().any(|cell| *cell == name);
                assert!(is_there, "{words}: {name:?} in {out}");
            }
        }
    }
}

/// Returns what each form of an answer says of its verdict: the JSON, and the texts.
fn told(folder: &Path, words: &str) -> (Value, [String; 2], i32) {
    let (text, _, code) = written(folder, words, "text");
    let (markdown, _, same) = written(folder, words, "markdown");
    let (data, _, also) = written(folder, words, "json");
    let (_, _, last) = written(folder, words, "csv");
    assert_eq!([same, also, last], [code; 3], "{words}");
    (serde_json::from_str(&data).unwrap(), [text, markdown], code)
}

#[test]
fn one_changed_nothing_and_everything_are_said_alike() {
    let names: Vec<String> = (0..12).map(|at| format!("b{at}")).collect();
    for (changed, verdict, sentence) in [
        (vec![3], "regression", "1 regression"),
        (vec![0], "regression", "1 regression"),
        (vec![11], "regression", "1 regression"),
        (vec![], "equivalent", "no regression found"),
        ((0..12).collect(), "regression", "12 regressions"),
    ] {
        let factor = |at: usize| if changed.contains(&at) { 2.0 } else { 1.0 };
        let benchmarks = names.iter().enumerate();
        let benchmarks: Vec<_> = benchmarks
            .map(|(at, name)| (name.as_str(), factor(at)))
            .collect();
        let folder = versions(&benchmarks, "default");
        let folder = folder.path();
        let words = "compare version:1.0 version:1.1 --fail-on regression";
        let (answer, texts, code) = told(folder, words);
        assert_eq!(answer["verdict"], verdict);
        assert_eq!(answer["verdicts"]["regression"], changed.len());
        assert_eq!(code, i32::from(!changed.is_empty()));
        let headline = answer["headline"].as_str().unwrap();
        assert!(headline.contains(sentence), "{headline}");
        for text in &texts {
            assert!(text.contains(sentence), "{text}");
        }
        let (rows, _, _) = written(folder, &format!("{words} --full"), "csv");
        let regressions = csv(&rows);
        let regressions = regressions
            .iter()
            .flatten()
            .filter(|it| *it == "regression");
        assert_eq!(regressions.count(), changed.len());
        let page = [
            "report",
            "-o",
            "site",
            "--compare",
            "version:1.0",
            "version:1.1",
        ];
        assert!(output(folder, &page).status.success());
        let index = fs::read_to_string(folder.join("site/index.html")).unwrap();
        let is_said = index.to_lowercase().contains(&sentence.to_lowercase());
        assert!(is_said, "{sentence}");
        let is_red = index.contains("class=\"headline worse\"");
        assert_eq!(is_red, !changed.is_empty());
    }
}

#[test]
fn a_value_is_the_same_number_in_every_answer() {
    let folder = versions(&[("skewed", 1.3), ("plain", 1.0)], "default");
    let value = |words: &str, list: &str, name: &str| {
        let (answer, _, _) = told(folder.path(), words);
        let rows = answer[list].as_array().unwrap().clone();
        let mut rows = rows.into_iter().filter(|row| row["benchmark"] == "skewed");
        rows.next_back().unwrap()[name].as_f64().unwrap()
    };
    let sides = "compare version:1.0 version:1.1";
    let compared = value(sides, "comparisons", "candidate_value");
    let listed = value("variability", "variability", "value");
    assert!(
        (compared / listed - 1.0).abs() < 1e-12,
        "{compared} and {listed}"
    );
}

#[test]
fn an_answer_has_no_more_rows_and_fields_than_were_asked_for() {
    let names: Vec<String> = (0..60).map(|at| format!("b{at}")).collect();
    let benchmarks: Vec<_> = names.iter().map(|name| (name.as_str(), 1.0)).collect();
    let folder = versions(&benchmarks, "default");
    let ask = |more: &str| {
        let words = format!("compare version:1.0 version:1.1{more}");
        let (out, _, _) = written(folder.path(), &words, "json");
        let answer: Value = serde_json::from_str(&out).unwrap();
        let rows = answer["comparisons"].as_array().unwrap().clone();
        (rows, answer["omitted_rows"].as_u64().unwrap())
    };
    let (few, omitted) = ask("");
    assert_eq!(few.len() as u64 + omitted, 60);
    assert!(omitted > 0);
    assert_eq!(ask(" --full").0.len(), 60);
    let (rows, omitted) = ask(" --full --limit 7 --fields benchmark,ratio");
    assert_eq!((rows.len(), omitted), (7, 53));
    let fields: Vec<&String> = rows[0].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["benchmark", "ratio"]);
    let (wrong, _, code) = written(
        folder.path(),
        "compare version:1.0 version:1.1 --fields ratioo",
        "json",
    );
    let wrong: Value = serde_json::from_str(&wrong).unwrap();
    assert_eq!((code, &wrong["exit"]), (2, &json!(2)));
    assert!(
        wrong["candidates"]
            .as_array()
            .unwrap()
            .contains(&json!("ratio"))
    );
}

#[test]
fn an_answer_about_one_benchmark_is_short() {
    let folder = versions(&[("b", 1.5)], "default");
    let two = "run --name two -n 4 -i 2 --format json -c true -c false";
    let two: Vec<&str> = two.split(' ').collect();
    output(folder.path(), &two);
    for words in ["compare version:1.0 version:1.1", "show one", "show two"] {
        let (out, _, _) = written(folder.path(), words, "json");
        assert!(out.len() < 4_000, "{words}: {} bytes", out.len());
    }
}

#[test]
fn errors_of_files_name_the_line() {
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join("lapwing.toml"),
        "suite = 's'\n[benchmark.b]\ncomand = 'true'\n",
    )
    .unwrap();
    let (out, _, code) = written(folder.path(), "run", "json");
    let error: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &error["exit"]), (2, &json!(2)));
    assert_eq!(error["where"], json!({"file": "lapwing.toml", "line": 3}));
}

#[test]
fn a_command_writes_one_document_whatever_goes_wrong_after_its_answer() {
    let folder = versions(&[("b", 1.5)], "default");
    let place = folder.path();
    fs::create_dir(place.join("taken.json")).unwrap();
    fs::create_dir(place.join("taken.svg")).unwrap();
    for words in [
        "compare version:1.0 version:1.1 --export taken.json",
        "compare version:1.0 version:1.1 --plot taken.svg",
        "show one --export taken.json",
    ] {
        let (out, said, code) = written(place, words, "json");
        let answer: Value = serde_json::from_str(&out).unwrap();
        assert!(answer["headline"].is_string(), "{words}: {answer}");
        assert!(code == 2 && said.contains("taken"), "{words}: {said}");
    }
    let measured = ["run", "-n", "3", "-i", "1", "--name", "two", "-c", "true"];
    output(place, &measured);
    let (out, said, code) = written(place, "run --resume two", "json");
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &answer["answer"]), (0, &json!("session")), "{said}");
}

/// Names that a shell would execute, if they were pasted between quotes of either kind, or without.
const COMMANDS: [&str; 4] = [
    "b'$(touch PWN)'",
    "b\"$(touch PWN)\"",
    "$(touch PWN)",
    "x'; touch PWN; '",
];

/// Returns the suggested commands of an answer: the next steps, and those in backquotes.
pub fn suggested(answer: &Value) -> Vec<String> {
    let mut commands = Vec::new();
    let mut texts = Vec::new();
    let next = answer["next"].as_array().into_iter().flatten();
    commands.extend(next.filter_map(|it| it["command"].as_str().map(str::to_owned)));
    let notes = answer["notes"].as_array().into_iter().flatten();
    texts.extend(notes.filter_map(|it| it["text"].as_str()));
    texts.extend(answer["hint"].as_str());
    for text in texts {
        let code = text.split('`').skip(1).step_by(2);
        commands.extend(
            code.filter(|it| it.starts_with("lapwing"))
                .map(str::to_owned),
        );
    }
    commands
}

#[test]
fn no_suggested_command_executes_what_a_name_says() {
    let suite = COMMANDS.map(|name| {
        let name = name.replace('"', "\\\"");
        format!("[benchmark.\"{name}\"]\ncommand = 'true'\n[variant.\"{name}\"]\n")
    });
    let folder = TempDir::new().unwrap();
    let place = folder.path();
    fs::write(place.join("lapwing.toml"), suite.concat()).unwrap();
    // A program of this name that does nothing, since only the shell is tried.
    let programs = place.join("programs");
    fs::create_dir(&programs).unwrap();
    fs::write(programs.join("lapwing"), "#!/bin/sh\n").unwrap();
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(programs.join("lapwing"), all).unwrap();
    let mut number = 0;
    for words in [
        "run -n 3 -i 2 --burn-in 0 --name N",
        "show N",
        "burn-in",
        "variability",
        "mds --closed-form",
        "compare variant:a variant:b",
        "detect",
    ] {
        let (out, _, _) = written(place, words, "json");
        let answer: Value = serde_json::from_str(&out).unwrap();
        for command in suggested(&answer) {
            number += 1;
            let path = format!("{}:/usr/bin:/bin", programs.display());
            let pasted = std::process::Command::new("sh")
                .args(["-c", &command])
                .env("PATH", path)
                .current_dir(place)
                .output()
                .unwrap();
            assert!(pasted.status.success(), "{command}");
            assert!(!place.join("PWN").exists(), "{command}");
        }
    }
    assert!(number > 3, "{number}");
}
