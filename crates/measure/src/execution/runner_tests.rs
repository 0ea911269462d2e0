use std::cell::RefCell;
use std::error::Error;
use std::path::Path;

use super::super::testing::{FakeClock, FakeExecutor, FakeScript, FakeWatch};
use super::super::*;
use crate::suite::{Plan, Settings, Suite};
use lapwing_model::write_line;
use lapwing_model::{Id, Object, Outcome, Record, Session, Version};

/// Keeps every record as a line.
#[derive(Default)]
struct Lines(Vec<u8>);

impl Consumer for Lines {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
        if let Event::Record(record) = event {
            write_line(&mut self.0, record)?;
        }
        Ok(())
    }
}

/// Keeps every record.
#[derive(Default)]
pub(crate) struct Records(pub(crate) Vec<Record>);

impl Consumer for Records {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
        if let Event::Record(record) = event {
            self.0.push((*record).clone());
        }
        Ok(())
    }
}

pub(crate) fn plan(text: &str) -> Plan {
    Suite::parse(Path::new("x"), text, Path::new("/bench"))
        .expect("a suite")
        .plan(&Settings::default(), 7)
}

pub(crate) fn measure(
    plan: &Plan,
    script: impl FnOnce(&mut FakeExecutor),
    consumer: &mut dyn Consumer,
) -> (RunEnd, Vec<String>) {
    let clock = FakeClock::default();
    let mut executor = FakeExecutor::new(&clock);
    script(&mut executor);
    let end = measure_on(plan, &clock, (&mut executor, None), consumer);
    (end, executor.executed)
}

pub(crate) fn measure_on(
    plan: &Plan,
    clock: &FakeClock,
    (executor, second): (&mut FakeExecutor, Option<&mut FakeExecutor>),
    consumer: &mut dyn Consumer,
) -> RunEnd {
    let count = RefCell::new(0_u64);
    let mut new_id = || {
        *count.borrow_mut() += 1;
        Id::measured(*count.borrow(), [0; 10])
    };
    let session = Session {
        id: new_id(),
        suite: plan.suite.clone(),
        started: clock.now(),
        seed: Some(plan.seed),
        tool: "lapwing test".to_owned(),
        name: None,
        attributes: Object::new(),
        artifacts: Object::new(),
        extra: Object::new(),
    };
    let mut consumers: [&mut dyn Consumer; 1] = [consumer];
    let runs = open_session(
        plan,
        session,
        &Version::default(),
        (&Object::new(), &[]),
        &mut new_id,
        &mut consumers,
    )
    .expect("kept");
    let scratch = tempfile::tempdir().expect("a folder");
    let mut around = RunnerSurroundings {
        executor,
        second_executor: second.map(|it| it as &mut dyn Executor),
        clock,
        watch: &mut FakeWatch,
        new_id: &mut new_id,
        host: Some("fake".to_owned()),
        scratch: scratch.path().to_owned(),
        look: None,
        profiler: None,
        sources: VariantSources::default(),
    };
    let mut schedule = FixedSchedule::new(plan);
    run(plan, &runs, &mut schedule, &mut around, &mut consumers).expect("kept")
}

fn iterations(
    plan: &Plan,
    script: impl FnOnce(&mut FakeExecutor),
) -> Vec<(bool, Outcome, Option<String>)> {
    let mut records = Records::default();
    measure(plan, script, &mut records);
    records
        .0
        .into_iter()
        .filter_map(|record| match record {
            Record::Iteration(it) => Some((it.burn_in, it.outcome, it.message)),
            _ => None,
        })
        .collect()
}

fn instance_ends(plan: &Plan, script: impl FnOnce(&mut FakeExecutor)) -> Vec<String> {
    let mut records = Records::default();
    measure(plan, script, &mut records);
    records
        .0
        .into_iter()
        .filter_map(|record| match record {
            Record::InstanceEnd(it) => Some(match it.message {
                Some(message) => format!("{}: {message}", it.outcome),
                None => it.outcome.to_string(),
            }),
            _ => None,
        })
        .collect()
}

#[test]
fn what_is_measured_is_recorded_to_the_byte() {
    let plan = plan("suite = 's'\n[benchmark.a]\ncommand = 'a'\ninstances = 1\niterations = 1");
    let mut lines = Lines::default();
    let (end, _) = measure(
        &plan,
        |it| it.script("a", [FakeScript::takes(250)]),
        &mut lines,
    );
    assert_eq!(end, RunEnd::Complete);
    let text = String::from_utf8(lines.0).expect("UTF-8");
    insta::assert_snapshot!(text, @r#"
    {"v":1,"kind":"session","id":"00000000-0001-7000-8000-000000000000","suite":"s","started":"2025-11-20T10:00:00Z","seed":7,"tool":"lapwing test"}
    {"v":1,"kind":"run","id":"00000000-0002-7000-8000-000000000000","session":"00000000-0001-7000-8000-000000000000","variant":"default","metrics":{"block_input":{"unit":"B","better":"lower"},"block_output":{"unit":"B","better":"lower"},"cgroup_peak_memory":{"unit":"B","better":"lower"},"cycles":{"unit":"1","better":"lower"},"instructions":{"unit":"1","better":"lower"},"involuntary_switches":{"unit":"1","better":"lower"},"major_faults":{"unit":"1","better":"lower"},"minor_faults":{"unit":"1","better":"lower"},"peak_memory":{"unit":"B","better":"lower"},"system_time":{"unit":"s","better":"lower"},"user_time":{"unit":"s","better":"lower"},"voluntary_switches":{"unit":"1","better":"lower"},"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"00000000-0003-7000-8000-000000000000","run":"00000000-0002-7000-8000-000000000000","benchmark":{"id":"a","fingerprint":"sha256:a70de786e404a373032d2c1269e323debf2eb92695fa5d5569bfa58469931432"},"block":0,"position":0,"attempt":0,"host":"fake","started":"2025-11-20T10:00:00Z"}
    {"v":1,"kind":"iteration","instance":"00000000-0003-7000-8000-000000000000","index":0,"offset":0.0,"burn_in":true,"outcome":"ok","metrics":{"block_input":0.0,"block_output":0.0,"involuntary_switches":0.0,"major_faults":0.0,"minor_faults":0.0,"peak_memory":0.0,"system_time":0.0,"user_time":0.125,"voluntary_switches":0.0,"wall_time":0.25},"attributes":{"exit_code":0}}
    {"v":1,"kind":"iteration","instance":"00000000-0003-7000-8000-000000000000","index":1,"offset":0.25,"burn_in":false,"outcome":"ok","metrics":{"block_input":0.0,"block_output":0.0,"involuntary_switches":0.0,"major_faults":0.0,"minor_faults":0.0,"peak_memory":0.0,"system_time":0.0,"user_time":0.125,"voluntary_switches":0.0,"wall_time":0.25},"attributes":{"exit_code":0}}
    {"v":1,"kind":"instance_end","instance":"00000000-0003-7000-8000-000000000000","ended":"2025-11-20T10:00:00.5Z","outcome":"ok"}
    "#);
}

#[test]
fn hooks_run_in_their_places() {
    let plan = plan(
        "[benchmark.a]\ncommand = 'a'\nsetup = 's'\nprepare = 'p'\ncheck = 'c'\nteardown = 't'\n\
         instances = 2\niterations = 1\nburn_in = 1",
    );
    let (_, executed) = measure(
        &plan,
        |it| {
            for command in ["a", "s", "p", "c", "t"] {
                it.script(command, [FakeScript::takes(1)]);
            }
        },
        &mut Records::default(),
    );
    assert_eq!(executed.join(" "), "s p a c p a c t s p a c p a c t");
}

#[test]
fn an_instance_is_given_up_after_consecutive_failures_and_a_success_forgives() {
    let plan =
        plan("[benchmark.a]\ncommand = 'a'\ninstances = 1\niterations = 9\nmax_failures = 2");
    let bad = || FakeScript {
        end: ExecutionEnd::Exited(3),
        ..FakeScript::takes(1)
    };
    let script = [
        bad(),
        FakeScript::takes(1),
        bad(),
        bad(),
        FakeScript::takes(1),
    ];
    let failed = |burn_in| (burn_in, Outcome::Failed, Some("exit code 3".to_owned()));
    assert_eq!(
        iterations(&plan, |it| it.script("a", script.clone())),
        [
            failed(true),
            (false, Outcome::Ok, None),
            failed(false),
            failed(false)
        ]
    );
    assert_eq!(
        instance_ends(&plan, |it| it.script("a", script)),
        ["failed: 2 iterations failed in a row: exit code 3"]
    );
}

#[test]
fn failures_of_every_kind_are_data() {
    let one = "instances = 1\niterations = 1\nburn_in = 0\n";
    let cases = [
        (
            format!("[benchmark.a]\ncommand = 'a'\n{one}"),
            "a",
            ExecutionEnd::Signalled(11),
        ),
        (
            format!("[benchmark.a]\ncommand = 'a'\ntime_limit = '2s'\n{one}"),
            "a",
            ExecutionEnd::TimedOut,
        ),
        (
            format!("[benchmark.a]\ncommand = 'a'\ncheck = 'c'\n{one}"),
            "c",
            ExecutionEnd::Exited(1),
        ),
        (
            format!("[benchmark.a]\ncommand = 'a'\nprepare = 'c'\n{one}"),
            "c",
            ExecutionEnd::Exited(1),
        ),
        (
            format!("[benchmark.a]\ncommand = 'a'\nmetrics = 'json'\n{one}"),
            "a",
            ExecutionEnd::Exited(0),
        ),
        (
            format!("[benchmark.a]\ncommand = 'b'\n{one}"),
            "a",
            ExecutionEnd::Exited(0),
        ),
    ];
    let outcomes: Vec<String> = cases
        .into_iter()
        .map(|(text, command, end)| {
            let script = FakeScript {
                end,
                ..FakeScript::takes(1)
            };
            let found = iterations(&plan(&text), |it| {
                it.script("a", [FakeScript::takes(1)]);
                it.script(command, [script]);
            });
            let (_, outcome, message) = &found[0];
            format!("{outcome}: {}", message.as_deref().unwrap_or("-"))
        })
        .collect();
    insta::assert_snapshot!(outcomes.join("\n"), @"
    failed: ended by signal 11
    timed_out: ended at its time limit of 2s
    failed: check failed: exit code 1
    failed: prepare failed: exit code 1
    failed: no JSON object on standard output
    failed: could not be started: no such command: b
    ");
}

#[test]
fn a_setup_that_fails_ends_the_instance_and_not_the_session() {
    let plan = plan(
        "[benchmark.a]\ncommand = 'a'\nsetup = 's'\ninstances = 2\niterations = 1\nburn_in = 0",
    );
    let setup = [
        FakeScript {
            end: ExecutionEnd::Exited(1),
            stdout: "no disk\n".to_owned(),
            ..FakeScript::takes(1)
        },
        FakeScript::takes(1),
    ];
    let ends = instance_ends(&plan, |it| {
        it.script("s", setup);
        it.script("a", [FakeScript::takes(1)]);
    });
    assert_eq!(ends, ["failed: setup failed: exit code 1: no disk", "ok"]);
}

#[test]
fn a_teardown_that_fails_is_told_and_kept_and_harms_no_result() {
    let plan = plan("[benchmark.a]\ncommand = 'a'\nteardown = 't'\ninstances = 1\niterations = 1");
    let teardown = FakeScript {
        end: ExecutionEnd::Exited(9),
        ..FakeScript::takes(1)
    };
    let ends = instance_ends(&plan, |it| {
        it.script("a", [FakeScript::takes(1)]);
        it.script("t", [teardown]);
    });
    assert_eq!(ends, ["ok: teardown failed: exit code 9"]);
}

#[test]
fn an_interruption_loses_the_instance_and_ends_the_session() {
    let plan = plan("[benchmark.a]\ncommand = 'a'\ninstances = 3\niterations = 2\nburn_in = 0");
    let script = [
        FakeScript::takes(1),
        FakeScript {
            end: ExecutionEnd::Interrupted,
            ..FakeScript::takes(1)
        },
    ];
    let mut records = Records::default();
    let (end, executed) = measure(&plan, |it| it.script("a", script), &mut records);
    assert_eq!((end, executed.len()), (RunEnd::Interrupted, 2));
    let kept = records
        .0
        .iter()
        .filter(|it| matches!(it, Record::Iteration(_)));
    assert_eq!(kept.count(), 1);
    let last = records.0.last().expect("an end");
    assert!(
        matches!(last, Record::InstanceEnd(end) if end.outcome == lapwing_model::InstanceOutcome::Lost)
    );
}

#[test]
fn time_budgets_stretch_and_shorten_an_instance() {
    let count = |keys: &str| {
        let text = format!(
            "[benchmark.a]\ncommand = 'a'\ninstances = 2\niterations = 5\nburn_in = 1\n{keys}"
        );
        iterations(&plan(&text), |it| it.script("a", [FakeScript::takes(100)])).len() / 2
    };
    assert_eq!(count(""), 6);
    assert_eq!(count("min_time = '2s'"), 11);
    assert_eq!(count("max_time = '600ms'"), 3);
    assert_eq!(count("max_time = '1ms'"), 2);
}

#[test]
fn arrays_of_the_output_are_iterations() {
    let plan = plan(
        "[benchmark.a]\ncommand = 'a'\nmetrics = 'json'\ninstances = 1\niterations = 3\nburn_in = 1",
    );
    let script = FakeScript {
        stdout: "{\"t\": [1, 2]}".to_owned(),
        ..FakeScript::takes(1)
    };
    let found = iterations(&plan, |it| it.script("a", [script]));
    let burn_in: Vec<bool> = found.iter().map(|it| it.0).collect();
    assert_eq!(burn_in, [true, false, false, false]);
}
