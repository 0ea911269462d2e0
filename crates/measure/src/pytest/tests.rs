use std::path::Path;

use super::super::execution::runner_tests::{Records, measure};
use super::super::testing::{FakeClock, FakeExecutor, FakeScript};
use super::super::{ExecutionEnd, RunEnd};
use super::{CollectError, collect, output};
use crate::suite::{BurnIn, Case, CommandLine, Plan, Settings, Suite};
use lapwing_model::{InstanceOutcome, Metric, Record};

const LIST: &str = r#"{"id":"test_a.py::test_it[1]","params":{"n":1},"tags":["io"],"fingerprint":"sha256:aa","source":null,"burn_in":1,"iterations":2,"time_limit":2.5,"max_failures":3,"metrics":{"wall_time":{"unit":"s","better":"lower"}},"root":"/bench"}
"#;

fn suite(more: &str) -> Suite {
    let text = format!("[benchmark.tests]\npytest = 'test_a.py'\ninstances = 2\n{more}");
    Suite::parse(Path::new("x"), &text, Path::new("/bench")).expect("a suite")
}

fn collected(suite: &Suite, script: FakeScript) -> (Result<Vec<Case>, CollectError>, Vec<String>) {
    let mut executor = FakeExecutor::new(&FakeClock::default());
    executor.script("python3 -m pytest --collect-only", [script]);
    let folder = tempfile::tempdir().expect("a folder");
    let cases = collect(
        &suite.pytest()[0],
        None,
        &mut executor,
        &folder.path().join("list"),
    );
    let executed = executor.executed.iter();
    let folder = folder.path().display().to_string();
    (
        cases,
        executed.map(|it| it.replace(&folder, "TMP")).collect(),
    )
}

fn listing() -> FakeScript {
    FakeScript {
        written: Some(LIST.to_owned()),
        ..FakeScript::takes(1)
    }
}

fn plan(overrides: &Settings) -> Plan {
    let suite = suite("");
    let cases = collected(&suite, listing()).0.expect("collected");
    suite
        .plan_with_tests(vec![cases], overrides, 7)
        .expect("no twins")
}

#[test]
fn a_test_becomes_a_benchmark_with_what_the_plugin_says_of_it() {
    let suite = suite("tags = ['nightly', 'io']\nenv = { A = 1 }\n[defaults]\niterations = 9\n");
    let (cases, executed) = collected(&suite, listing());
    let case = &cases.expect("collected")[0];
    assert_eq!(
        executed,
        [
            "python3 -m pytest --collect-only -q --color=no --lapwing-collect TMP/list -o lapwing_iterations=9 test_a.py"
        ]
    );
    assert_eq!(case.benchmark.id, "test_a.py::test_it[1]");
    assert_eq!(case.benchmark.tags, ["io", "nightly"]);
    assert_eq!(case.benchmark.fingerprint.as_deref(), Some("sha256:aa"));
    assert_eq!(
        (case.instances, case.burn_in, case.iterations),
        (2, BurnIn::Fixed(1), 2)
    );
    assert_eq!(case.environment["A"], "1");
}

#[test]
fn what_keeps_tests_from_being_collected_is_said() {
    let ends = |code, stdout: &str| FakeScript {
        end: ExecutionEnd::Exited(code),
        stdout: stdout.to_owned(),
        ..FakeScript::takes(1)
    };
    let scripts = [
        ends(5, "no tests ran"),
        ends(0, ""),
        ends(2, "collected\n=== ERRORS ===\nE   NameError: x\n"),
        FakeScript {
            written: Some("no JSON\n".to_owned()),
            ..FakeScript::takes(1)
        },
    ];
    let said = scripts.map(|script| {
        collected(&suite(""), script)
            .0
            .expect_err("an error")
            .to_string()
    });
    insta::assert_snapshot!(said.join("\n"), @"
    [benchmark.tests]: test_a.py has no test that is a benchmark
    [benchmark.tests]: test_a.py has no test that is a benchmark
    [benchmark.tests]: pytest cannot collect test_a.py
    === ERRORS ===
    E   NameError: x
    [benchmark.tests]: the list of tests that pytest-lapwing wrote cannot be read: expected ident at line 1 column 2
    ");
}

/// Returns the lines that the plugin writes, the last `cut` of them left out.
fn records(cut: usize) -> String {
    let lines = [
        r#"{"v":1,"kind":"session","id":"0190a000-0000-7000-8000-000000000001","suite":"s","started":"2026-01-01T00:00:00Z","tool":"pytest-lapwing 0.1.0"}"#,
        r#"{"v":1,"kind":"run","id":"0190a000-0000-7000-8000-000000000002","session":"0190a000-0000-7000-8000-000000000001","metrics":{"wall_time":{"unit":"s","better":"lower"},"rows":{"unit":"1","better":"higher"}}}"#,
        r#"{"v":1,"kind":"instance","id":"0190a000-0000-7000-8000-000000000003","run":"0190a000-0000-7000-8000-000000000002","benchmark":{"id":"test_a.py::test_it[1]","fingerprint":"sha256:bb"},"attributes":{"loop_cost":1e-6}}"#,
        r#"{"v":1,"kind":"iteration","instance":"0190a000-0000-7000-8000-000000000003","index":0,"offset":0.1,"burn_in":true,"outcome":"ok","metrics":{"wall_time":0.5,"rows":3}}"#,
        r#"{"v":1,"kind":"iteration","instance":"0190a000-0000-7000-8000-000000000003","index":1,"offset":0.7,"burn_in":false,"outcome":"failed","message":"ValueError: no"}"#,
        r#"{"v":1,"kind":"instance_end","instance":"0190a000-0000-7000-8000-000000000003","ended":"2026-01-01T00:00:01Z","outcome":"ok","observed":{"load_before":0.5}}"#,
    ];
    lines[..lines.len() - cut]
        .iter()
        .map(|it| format!("{it}\n"))
        .collect()
}

fn measured(plan: &Plan, script: FakeScript) -> (RunEnd, Vec<String>, Vec<Record>) {
    let mut records = Records::default();
    let script = |it: &mut FakeExecutor| it.script("python3 -m pytest", [script]);
    let (end, executed) = measure(plan, script, &mut records);
    (end, executed, records.0)
}

fn ends(records: &[Record]) -> Vec<(InstanceOutcome, Option<&str>)> {
    records
        .iter()
        .filter_map(|record| match record {
            Record::InstanceEnd(end) => Some((end.outcome, end.message.as_deref())),
            _ => None,
        })
        .collect()
}

#[test]
fn what_the_plugin_writes_becomes_the_instance() {
    let script = FakeScript {
        written: Some(records(0)),
        ..FakeScript::takes(2000)
    };
    let (end, executed, records) = measured(&plan(&Settings::default()), script);
    assert_eq!(end, RunEnd::Complete);
    let call = "python3 -m pytest '/bench/test_a.py::test_it[1]' --rootdir=/bench --lapwing --lapwing-driven --lapwing-output ";
    assert!(
        executed.len() == 2 && executed.iter().all(|it| it.starts_with(call)),
        "{executed:?}"
    );
    let lines: Vec<String> = records
        .iter()
        .map(|record| match record {
            Record::Session(_) => "session".to_owned(),
            Record::Run(run) => format!("run {}", run.metrics.contains_key("rows")),
            Record::Instance(it) => format!(
                "instance {} {} {} {}",
                it.block,
                it.benchmark.fingerprint.as_deref().unwrap_or_default(),
                it.attributes["loop_cost"],
                it.attributes["process"]["wall_time"],
            ),
            Record::Iteration(it) => format!(
                "iteration {} {} {} {:?} {:?}",
                it.index, it.burn_in, it.outcome, it.metrics, it.message
            ),
            Record::InstanceEnd(it) => format!("end {:?} {:?}", it.outcome, it.observed),
            other => format!("unexpected: {other:?}"),
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    session
    run false
    run true
    instance 0 sha256:bb 1e-6 2.0
    iteration 0 true ok {"rows": 3.0, "wall_time": 0.5} None
    iteration 1 false failed {} Some("ValueError: no")
    end Ok {"load_before": Number(0.5)}
    instance 1 sha256:bb 1e-6 2.0
    iteration 0 true ok {"rows": 3.0, "wall_time": 0.5} None
    iteration 1 false failed {} Some("ValueError: no")
    end Ok {"load_before": Number(0.5)}
    "#);
    // The run tells once more of itself, with the metric that it did not know of.
    let runs: Vec<_> = records
        .iter()
        .filter_map(|record| match record {
            Record::Instance(it) => Some(it.run),
            Record::Run(it) => Some(it.id),
            _ => None,
        })
        .collect();
    assert_eq!(runs, [runs[0]; 4]);
}

#[test]
fn a_metric_that_the_run_has_in_another_unit_fails_its_iterations() {
    let id = "test_a.py::test_it[1]";
    let declared = |metric: Metric| {
        let script = FakeScript {
            written: Some(records(0)),
            ..FakeScript::takes(1)
        };
        let (_, _, all) = measured(&plan(&Settings::default()), script);
        let mut run = all.into_iter().find_map(|it| match it {
            Record::Run(run) => Some(run),
            _ => None,
        });
        let run = run.as_mut().expect("a run");
        run.metrics.insert("rows".to_owned(), metric);
        let mut recorded = output::read(&records(0), id);
        let is_news = recorded.declare(run);
        let it = recorded.iterations.swap_remove(0);
        (is_news, it.metrics.contains_key("rows"), it.message)
    };
    let fits = declared(Metric::higher("1"));
    assert_eq!(fits, (false, true, None));
    let (is_news, has_it, why) = declared(Metric::lower("B"));
    assert!(!is_news && !has_it);
    insta::assert_snapshot!(why.expect("a reason"), @"metric `rows` is 1 (higher is better) here, and B (lower is better) in another test: give one of them another name");
}

#[test]
fn a_process_that_dies_keeps_what_it_wrote() {
    let half_a_line = format!("{}{{\"v\":1,\"kind\":\"iter", records(2));
    let died = FakeScript {
        written: Some(half_a_line),
        end: ExecutionEnd::Signalled(9),
        stdout: "collected 1 item\n".to_owned(),
        ..FakeScript::takes(1)
    };
    let (_, _, records) = measured(&plan(&Settings::default()), died);
    let iterations = records
        .iter()
        .filter(|it| matches!(it, Record::Iteration(_)));
    assert_eq!(iterations.count(), 4);
    let message = Some("pytest died: ended by signal 9");
    assert_eq!(ends(&records), [(InstanceOutcome::Failed, message); 2]);
    // The one under way failed, as that of a command does which dies.
    let failed: Vec<_> = records.iter().filter_map(cut_off).collect();
    assert_eq!(failed, ["1 false failed ended by signal 9 9"; 2]);
}

/// Returns what is recorded of an iteration that the plugin could not record.
fn cut_off(record: &Record) -> Option<String> {
    let Record::Iteration(it) = record else {
        return None;
    };
    let printed = it.attributes.get("stdout")?;
    assert!(!printed.is_null() && it.metrics.is_empty());
    let how = it.attributes.get("signal");
    let how = how.or_else(|| it.attributes.get("exit_code"));
    Some(format!(
        "{} {} {} {} {}",
        it.index,
        it.burn_in,
        it.outcome,
        it.message.as_deref().unwrap_or_default(),
        how.map_or_else(|| "-".to_owned(), ToString::to_string)
    ))
}

#[test]
fn what_pytest_printed_gives_the_reason_and_its_progress_none() {
    let died = |end, cut: Option<usize>, stdout: &str| {
        let script = FakeScript {
            end,
            written: cut.map(records),
            stdout: stdout.to_owned(),
            ..FakeScript::takes(1)
        };
        let (_, _, records) = measured(&plan(&Settings::default()), script);
        let (outcome, message) = ends(&records)[0];
        let iteration = records.iter().find_map(cut_off);
        format!("{outcome} {message:?}\n  {iteration:?}")
    };
    let said = [
        died(
            ExecutionEnd::Exited(3),
            Some(3),
            "collected 1 item\n\nbenchmarks/test_a.py ",
        ),
        died(
            ExecutionEnd::Signalled(6),
            Some(3),
            "Fatal Python error: Aborted\n\n  File x\n",
        ),
        died(
            ExecutionEnd::Exited(4),
            None,
            "E     File \"prog.py\"\nE   SyntaxError: no\nERROR test_a.py\n",
        ),
        died(ExecutionEnd::Signalled(11), Some(0), "1 passed\n"),
        died(ExecutionEnd::TimedOut, Some(1), "collected 1 item\n"),
        died(ExecutionEnd::Exited(0), Some(0), "1 passed\n"),
    ];
    insta::assert_snapshot!(said.join("\n"), @r#"
    failed Some("pytest died: exit code 3")
      Some("0 true failed exit code 3 3")
    failed Some("pytest died: ended by signal 6: Fatal Python error: Aborted")
      Some("0 true failed ended by signal 6: Fatal Python error: Aborted 6")
    failed Some("pytest recorded nothing: exit code 4: SyntaxError: no")
      Some("0 true failed pytest recorded nothing: exit code 4: SyntaxError: no 4")
    failed Some("pytest died after the last iteration: ended by signal 11")
      Some("2 false failed pytest died after the last iteration: ended by signal 11 11")
    timed_out Some("ended at its time limit of 307.5s, which is that of all iterations and 5 minutes to start and end")
      Some("2 false timed_out ended at its time limit of 307.5s, which is that of all iterations and 5 minutes to start and end -")
    ok None
      None
    "#);
}

#[test]
fn every_way_to_end_has_its_outcome() {
    let script = |end, cut: Option<usize>| FakeScript {
        end,
        written: cut.map(records),
        stdout: "ERROR: not found: x\n\n".to_owned(),
        ..FakeScript::takes(1)
    };
    let said: Vec<String> = [
        script(ExecutionEnd::Exited(4), None),
        script(ExecutionEnd::TimedOut, Some(1)),
        script(ExecutionEnd::NotStarted("no such file".to_owned()), None),
        script(ExecutionEnd::Interrupted, Some(1)),
        FakeScript {
            written: Some("nonsense\n".to_owned()),
            ..FakeScript::takes(1)
        },
    ]
    .into_iter()
    .map(|script| {
        let (_, _, records) = measured(&plan(&Settings::default()), script);
        format!("{:?}", ends(&records)[0])
    })
    .collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    (Failed, Some("pytest recorded nothing: exit code 4: ERROR: not found: x"))
    (TimedOut, Some("ended at its time limit of 307.5s, which is that of all iterations and 5 minutes to start and end"))
    (Failed, Some("pytest recorded nothing: could not be started: no such file: ERROR: not found: x"))
    (Lost, Some("interrupted"))
    (Failed, Some("pytest-lapwing wrote an invalid record: line 1: expected ident at line 1 column 2"))
    "#);
}

#[test]
fn what_the_command_line_says_is_given_to_pytest_and_nothing_else() {
    let overrides = Settings {
        burn_in: Some(BurnIn::Auto),
        iterations: Some(7),
        max_failures: Some(3),
        ..Settings::default()
    };
    let script = FakeScript {
        written: Some(records(0)),
        ..FakeScript::takes(1)
    };
    let (_, executed, _) = measured(&plan(&overrides), script);
    assert!(
        executed[0].ends_with(".jsonl --lapwing-burn-in=0 --lapwing-iterations=7"),
        "{}",
        executed[0]
    );
}

#[test]
fn a_plan_with_tests_survives_being_stored() {
    let plan = plan(&Settings::default());
    let text = serde_json::to_string(&plan).expect("JSON");
    assert_eq!(serde_json::from_str::<Plan>(&text).expect("a plan"), plan);
    assert!(matches!(&plan.cases[0].command, CommandLine::Words(words) if words.len() == 4));
}
