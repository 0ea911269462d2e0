//! `lapwing report`: the real program, a real store, files that are there.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

fn lapwing(directory: &Path, arguments: &[&str]) -> Output {
    Command::cargo_bin("lapwing")
        .expect("the program is built")
        .current_dir(directory)
        .args(arguments)
        .output()
        .expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_report_is_written_and_its_index_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let measured = lapwing(
        directory.path(),
        &["run", "--instances", "3", "--iterations", "2", "--", "true"],
    );
    assert!(measured.status.success(), "{}", text(&measured.stderr));
    for _again in 0..2 {
        let output = lapwing(directory.path(), &["report"]);
        assert_eq!(
            text(&output.stdout),
            "wrote lapwing-report/index.html (1 benchmark)\n"
        );
        assert_eq!(text(&output.stderr), "");
        let output = lapwing(directory.path(), &["report", "--quiet"]);
        assert_eq!(text(&output.stdout), "lapwing-report/index.html\n");
    }
    let index = std::fs::read_to_string(directory.path().join("lapwing-report/index.html"))
        .expect("it is there");
    assert!(index.contains("<title>commands · 20"), "{index}");
}

#[test]
fn what_is_left_out_is_chosen_and_every_page_goes_by_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let measure = ["run", "--instances", "3", "--iterations", "4", "--", "true"];
    assert!(lapwing(directory.path(), &measure).status.success());
    let output = lapwing(
        directory.path(),
        &[
            "report",
            "--clean",
            "burn_in=3",
            "--clean",
            "min_instances=2",
            "--audit",
        ],
    );
    assert_eq!(
        text(&output.stdout),
        "wrote lapwing-report/index.html (1 benchmark)\nnote: exclusions are listed in lapwing-report/cleaning.html\n"
    );
    let cleaning = std::fs::read_to_string(directory.path().join("lapwing-report/cleaning.html"))
        .expect("it is there");
    for said in [
        "Burn-in is everything before iteration 3.",
        "A benchmark needs 2 instances that count.",
    ] {
        assert!(cleaning.contains(said), "{said} in {cleaning}");
    }
    let page = page_of(directory.path(), "true");
    assert!(page.contains("3 instances × 2)"), "{page}");
    lapwing(directory.path(), &["report", "--clean", "min_instances=4"]);
    let page = page_of(directory.path(), "true");
    assert!(
        page.contains("gave a value (3 burn-in, 12 in benchmarks with too few instances)"),
        "{page}"
    );
}

fn page_of(directory: &Path, beginning: &str) -> String {
    lapwing_testing::benchmark_page(&directory.join("lapwing-report"), beginning)
}

#[test]
fn imported_runs_say_what_they_are_taken_as_and_means_stay_means() {
    let fixture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/fixtures/hyperfine-1.15/two-commands.json"
    );
    for (each_run, said, size) in [
        (
            "instance",
            "Instances are single runs of hyperfine, one right after another",
            "5 instances × 1",
        ),
        (
            "iteration",
            "The runs of hyperfine, one right after another, are the iterations of one instance",
            "1 instance × 5",
        ),
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let arguments = ["import", "--each-run", each_run, fixture];
        let output = lapwing(directory.path(), &arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        lapwing(directory.path(), &["report"]);
        let page = page_of(directory.path(), "sleep-0-01");
        assert!(page.contains(said), "{page}");
        assert!(page.contains(size), "{page}");
        assert!(page.contains("summary</span> mean of 5"), "{page}");
    }
}

/// Returns record v1 of as many sessions, each with a summary of `it`, and with samples of
/// `both` beside a summary of its user time.
fn summaries(sessions: u64) -> String {
    let mut lines = String::new();
    for number in 0..sessions {
        let id = |kind: u64| format!("01930000-0000-7000-8000-{:012}", number * 10 + kind);
        let (session, run, it, both) = (id(1), id(2), id(3), id(4));
        let (day, hour) = (1 + number / 24, number % 24);
        lines.push_str(&format!(
            r#"{{"v":1,"kind":"session","id":"{session}","suite":"other","started":"2026-11-{day:02}T{hour:02}:00:00Z","tool":"example 1.0","attributes":{{"source":{{"format":"asv"}}}}}}
{{"v":1,"kind":"run","id":"{run}","session":"{session}","metrics":{{"wall_time":{{"unit":"s"}},"user_time":{{"unit":"s"}}}}}}
{{"v":1,"kind":"instance","id":"{it}","run":"{run}","benchmark":{{"id":"it"}}}}
{{"v":1,"kind":"summary","instance":"{it}","metric":"wall_time","n":30,"centre":1.5,"spread":0.05,"statistic":"median/iqr"}}
{{"v":1,"kind":"instance","id":"{both}","run":"{run}","benchmark":{{"id":"both"}}}}
{{"v":1,"kind":"iteration","instance":"{both}","index":0,"outcome":"ok","metrics":{{"wall_time":2.5}}}}
{{"v":1,"kind":"summary","instance":"{both}","metric":"user_time","n":1,"centre":2.0,"statistic":"mean"}}
"#
        ));
    }
    lines
}

#[test]
fn a_history_of_summaries_is_reported_beside_samples() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("r.jsonl"), summaries(300)).expect("it writes");
    let output = lapwing(directory.path(), &["import", "r.jsonl"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = lapwing(directory.path(), &["report"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let it = page_of(directory.path(), "it-");
    for said in [
        "<strong>1.50 s</strong> ± 0.05 (iqr) in the run of 2026-11-13 11:00",
        ": median of 30, spread iqr; the source kept no samples.",
        "<code>asv run --record-samples</code>",
    ] {
        assert!(it.contains(said), "{said} in {it}");
    }
    let both = page_of(directory.path(), "both-");
    assert!(both.contains("2.50 s (1 instance × 1)"), "{both}");
    assert!(both.contains("summary</span> mean of 1"), "{both}");
    assert!(!both.contains("the source kept no samples."), "{both}");
}

#[test]
fn a_folder_of_something_else_is_left_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    lapwing(
        directory.path(),
        &["run", "--instances", "1", "--iterations", "1", "--", "true"],
    );
    let folder = directory.path().join("thesis");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("chapter"), "one").expect("it writes");
    let output = lapwing(directory.path(), &["report", "-o", "thesis"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        text(&output.stderr),
        "error: `thesis` is not empty and holds no report, so nothing there was touched\n  \
         hint: name a new or empty folder: `lapwing report -o FOLDER`\n"
    );
    assert_eq!(
        std::fs::read_to_string(folder.join("chapter")).expect("still there"),
        "one"
    );
}

#[test]
fn the_page_of_a_failing_benchmark_shows_what_it_printed() {
    let directory = tempfile::tempdir().expect("a directory");
    lapwing(
        directory.path(),
        &[
            "run",
            "-n",
            "1",
            "-i",
            "1",
            "--command-name",
            "broken",
            "--command",
            "echo before; echo 'cannot find <file>' >&2; exit 3",
        ],
    );
    let output = lapwing(directory.path(), &["report"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let html = page_of(directory.path(), "broken");
    assert!(html.contains("exit code 3"), "{html}");
    assert!(html.contains("before\ncannot find &lt;file&gt;"), "{html}");
}

#[test]
fn a_benchmark_that_became_another_thing_is_not_said_to_have_changed() {
    let directory = tempfile::tempdir().expect("a directory");
    let measure = |command: &str| {
        let arguments = [
            "run",
            "-n",
            "3",
            "-i",
            "1",
            "--command-name",
            "it",
            "--command",
            command,
        ];
        let output = lapwing(directory.path(), &arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    let index_data = || {
        let output = lapwing(directory.path(), &["report"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let data = lapwing_testing::report_data(&directory.path().join("lapwing-report"));
        let entries = data.iter().filter(|(name, _)| name.starts_with("index"));
        entries
            .map(|(_, value)| value.to_string())
            .collect::<String>()
    };
    measure("sleep 0.01");
    measure("sleep 0.01");
    assert!(index_data().contains("against the run of"));
    measure("sleep 0.02");
    assert!(!index_data().contains("against the run of"));
}

/// Returns a store with a session of these variants, each with its value, in which the first one was measured first.
fn session_of(variants: &[(&str, f64)]) -> tempfile::TempDir {
    let mut lines = lapwing_testing::RecordLines::default();
    let session = lines.session("2026-01-01T00:00:00Z", serde_json::json!({}));
    for (variant, value) in variants {
        let run = lines.run(&session, serde_json::json!({ "variant": variant }));
        for at in 0..5_u32 {
            let id = lines.instance(&run, "b", serde_json::json!({}));
            let value = value * (1.0 + f64::from(at) / 1000.0);
            let metrics = serde_json::json!({"metrics": {"wall_time": value}});
            lines.iteration(&id, 0, metrics);
            lines.instance_end(&id);
        }
    }
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("r.jsonl"), lines.text).expect("it writes");
    let output = lapwing(directory.path(), &["import", "r.jsonl"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    directory
}

#[test]
fn variants_are_compared_with_the_one_that_was_measured_first_unless_one_is_the_baseline() {
    for (variants, said) in [
        (["old", "new"], "new against old: 1 regression"),
        (["zeta", "alpha"], "alpha against zeta: 1 regression"),
        (
            ["it", "baseline"],
            "it against baseline: no regression found, 1 improvement",
        ),
        (
            ["it", "default"],
            "it against default: no regression found, 1 improvement",
        ),
    ] {
        let directory = session_of(&[(variants[0], 1.0), (variants[1], 1.3)]);
        let output = lapwing(directory.path(), &["report"]);
        let told = text(&output.stdout) + &text(&output.stderr);
        assert!(told.contains(said), "{told}");
        let shown = lapwing(directory.path(), &["show"]);
        let shown = text(&shown.stdout);
        assert!(
            shown.contains(&format!("{} is 1.30", variants[1])),
            "{shown}"
        );
    }
}

#[test]
fn two_sessions_of_one_name_are_no_two_sides() {
    let mut lines = lapwing_testing::RecordLines::default();
    for second in 0..2 {
        let name = serde_json::json!({"name": "pytest-20260101"});
        let session = lines.session(&format!("2026-01-01T00:00:0{second}Z"), name);
        let run = lines.run(&session, serde_json::json!({}));
        for _ in 0..5 {
            let id = lines.instance(&run, "b", serde_json::json!({}));
            lines.iteration(&id, 0, serde_json::json!({"metrics": {"wall_time": 1.0}}));
            lines.instance_end(&id);
        }
    }
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("r.jsonl"), lines.text).expect("it writes");
    let arguments: [&[&str]; 2] = [&["import", "r.jsonl"], &["report"]];
    for arguments in arguments {
        let output = lapwing(directory.path(), arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

#[test]
fn what_could_be_compared_is_not_said_to_have_nothing_to_compare_with() {
    let variants = ["a", "b", "c", "d", "e", "f"].map(|it| (it, 1.0));
    for (variants, said) in [
        (&variants[..], "Nothing is compared here"),
        (&variants[..1], "There is nothing to compare them with yet"),
    ] {
        let directory = session_of(variants);
        lapwing(directory.path(), &["report"]);
        let index = directory.path().join("lapwing-report/index.html");
        let index = std::fs::read_to_string(index).expect("it is there");
        assert!(index.contains(said), "{index}");
    }
}
