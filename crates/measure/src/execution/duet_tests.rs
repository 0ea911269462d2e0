use super::super::testing::{FakeClock, FakeExecutor, FakeScript};
use super::super::*;
use super::runner_tests::{Records, measure_on, plan};
use crate::suite::{DuetCores, Plan};
use lapwing_model::{DUET, InstanceOutcome, Outcome, Record};

/// Returns the plan of a benchmark `a` with these keys, in two variants that are measured together.
fn duet(keys: &str) -> Plan {
    let text = format!("[benchmark.a]\ncommand = 'a'\n{keys}\n[variant.x]\n[variant.y]\n");
    Plan {
        duet: Some(DuetCores {
            first: "0".to_owned(),
            second: "1".to_owned(),
        }),
        ..plan(&text)
    }
}

/// Measures with these scripts of `a` on the two sets of cores.
fn measure(plan: &Plan, scripts: [Vec<FakeScript>; 2]) -> (RunEnd, Vec<Record>) {
    let clock = FakeClock::default();
    let mut executors = scripts.map(|scripts| {
        let mut executor = FakeExecutor::new(&clock);
        executor.script("a", scripts);
        for command in ["s", "p", "c", "t"] {
            executor.script(command, [FakeScript::takes(1)]);
        }
        executor
    });
    let [first, second] = &mut executors;
    let mut records = Records::default();
    let end = measure_on(plan, &clock, (first, Some(second)), &mut records);
    (end, records.0)
}

fn takes(milliseconds: u64) -> Vec<FakeScript> {
    vec![FakeScript::takes(milliseconds)]
}

fn ends(end: ExecutionEnd) -> FakeScript {
    FakeScript {
        end,
        ..FakeScript::takes(1)
    }
}

/// Returns a line for each iteration: variant, instance, index, start and wall time in ms, outcome.
fn iterations(records: &[Record]) -> Vec<String> {
    let runs: Vec<_> = records
        .iter()
        .filter_map(|it| match it {
            Record::Run(run) => Some(run),
            _ => None,
        })
        .collect();
    let instances: Vec<_> = records
        .iter()
        .filter_map(|it| match it {
            Record::Instance(instance) => Some(instance),
            _ => None,
        })
        .collect();
    let mut lines: Vec<String> = records
        .iter()
        .filter_map(|it| match it {
            Record::Iteration(it) => Some(it),
            _ => None,
        })
        .map(|it| {
            let instance = instances.iter().find(|of| of.id == it.instance);
            let instance = instance.expect("an instance");
            let run = runs.iter().find(|of| of.id == instance.run).expect("a run");
            let wall = it.metrics.get("wall_time").map_or(f64::NAN, |it| it * 1e3);
            format!(
                "{} {} #{}: {:.0} ms from {:.0} ms on, {} ({})",
                run.variant,
                instance.block,
                it.index,
                wall,
                it.offset.unwrap_or(f64::NAN) * 1e3,
                it.outcome,
                instance.attributes[DUET]["cores"].as_str().unwrap_or("-"),
            )
        })
        .collect();
    lines.sort();
    lines
}

fn instance_ends(records: &[Record]) -> Vec<String> {
    let ends = records.iter().filter_map(|it| match it {
        Record::InstanceEnd(it) => Some(format!(
            "{} {}",
            it.outcome,
            it.message.clone().unwrap_or_default()
        )),
        _ => None,
    });
    ends.collect()
}

#[test]
fn iterations_start_together_and_the_sides_swap_cores() {
    let plan = duet("instances = 2\niterations = 2\nburn_in = 0");
    let (end, records) = measure(&plan, [takes(100), takes(250)]);
    assert_eq!(end, RunEnd::Complete);
    insta::assert_snapshot!(iterations(&records).join("\n"), @"
    x 0 #0: 100 ms from 0 ms on, ok (first)
    x 0 #1: 100 ms from 250 ms on, ok (first)
    x 1 #0: 250 ms from 0 ms on, ok (second)
    x 1 #1: 250 ms from 250 ms on, ok (second)
    y 0 #0: 250 ms from 0 ms on, ok (second)
    y 0 #1: 250 ms from 250 ms on, ok (second)
    y 1 #0: 100 ms from 0 ms on, ok (first)
    y 1 #1: 100 ms from 250 ms on, ok (first)
    ");
    let instances: Vec<_> = records
        .iter()
        .filter_map(|it| match it {
            Record::Instance(it) => Some(it),
            _ => None,
        })
        .collect();
    for (at, instance) in instances.iter().enumerate() {
        let partner = instances[at ^ 1];
        let facts = &instance.attributes[DUET];
        assert_eq!(facts["partner"], partner.id.to_string());
        assert_ne!(facts["cpus"], partner.attributes[DUET]["cpus"]);
        assert_eq!(instance.block, partner.block);
    }
}

#[test]
fn hooks_are_not_timed_and_both_sides_wait_for_them() {
    let plan = duet(
        "setup = 's'\nprepare = 'p'\ncheck = 'c'\nteardown = 't'\n\
         instances = 1\niterations = 2\nburn_in = 0",
    );
    let (_, records) = measure(&plan, [takes(10), takes(10)]);
    insta::assert_snapshot!(iterations(&records).join("\n"), @"
    x 0 #0: 10 ms from 2 ms on, ok (first)
    x 0 #1: 10 ms from 16 ms on, ok (first)
    y 0 #0: 10 ms from 2 ms on, ok (second)
    y 0 #1: 10 ms from 16 ms on, ok (second)
    ");
}

#[test]
fn a_failure_of_one_side_ends_both_and_numbers_stay_those_of_the_moment() {
    let plan = duet("instances = 1\niterations = 9\nburn_in = 0\nmax_failures = 2");
    let bad = || ends(ExecutionEnd::Exited(3));
    let script = vec![FakeScript::takes(5), bad(), bad()];
    let (_, records) = measure(&plan, [script, takes(7)]);
    let outcomes: Vec<(u32, Outcome)> = records
        .iter()
        .filter_map(|it| match it {
            Record::Iteration(it) => Some((it.index, it.outcome)),
            _ => None,
        })
        .collect();
    let of = |outcome| outcomes.iter().filter(|it| it.1 == outcome).count();
    assert_eq!((of(Outcome::Ok), of(Outcome::Failed)), (4, 2));
    assert!(outcomes.iter().all(|(index, _)| *index < 3));
    let mut ends = instance_ends(&records);
    ends.sort();
    assert_eq!(
        ends,
        ["failed 2 iterations failed in a row: exit code 3", "ok "]
    );
}

#[test]
fn a_side_that_cannot_be_prepared_keeps_the_other_one_waiting() {
    let plan = duet("prepare = 'q'\ninstances = 1\niterations = 3\nburn_in = 0\nmax_failures = 2");
    let clock = FakeClock::default();
    let mut executors = [0, 1].map(|at| {
        let mut executor = FakeExecutor::new(&clock);
        executor.script("a", takes(5));
        let prepare = match at {
            0 => vec![ends(ExecutionEnd::Exited(1)), FakeScript::takes(1)],
            _ => takes(1),
        };
        executor.script("q", prepare);
        executor
    });
    let [first, second] = &mut executors;
    let mut records = Records::default();
    measure_on(&plan, &clock, (first, Some(second)), &mut records);
    insta::assert_snapshot!(iterations(&records.0).join("\n"), @"
    x 0 #0: NaN ms from 0 ms on, failed (first)
    x 0 #1: 5 ms from 2 ms on, ok (first)
    x 0 #2: 5 ms from 9 ms on, ok (first)
    y 0 #1: 5 ms from 2 ms on, ok (second)
    y 0 #2: 5 ms from 9 ms on, ok (second)
    ");
}

#[test]
fn an_interruption_loses_both_sides() {
    let plan = duet("instances = 2\niterations = 2\nburn_in = 0");
    let script = vec![ends(ExecutionEnd::Interrupted)];
    let (end, records) = measure(&plan, [takes(5), script]);
    assert_eq!(end, RunEnd::Interrupted);
    assert_eq!(
        instance_ends(&records),
        ["lost interrupted", "lost interrupted"]
    );
}

#[test]
fn a_lost_half_means_that_the_pair_is_measured_again() {
    let plan = duet("instances = 2");
    let all: Vec<InstancePlan> = FixedSchedule::new(&plan).left().copied().collect();
    let finished = |outcomes: &[InstanceOutcome]| -> Vec<FinishedInstance> {
        let each = all.iter().zip(outcomes);
        each.map(|(plan, outcome)| FinishedInstance {
            plan: *plan,
            outcome: *outcome,
        })
        .collect()
    };
    use InstanceOutcome::{Failed, Lost, Ok};
    let left = |outcomes: &[InstanceOutcome]| -> Vec<(u32, u32)> {
        let schedule = FixedSchedule::resumed(&plan, &finished(outcomes));
        schedule.left().map(|it| (it.block, it.attempt)).collect()
    };
    assert_eq!(left(&[Ok, Failed]), [(1, 0), (1, 0)]);
    assert_eq!(left(&[Ok, Lost]), [(0, 1), (0, 1), (1, 0), (1, 0)]);
    assert_eq!(left(&[Ok, Ok, Ok]), [(1, 1), (1, 1)]);
}

#[test]
fn two_commands_are_the_sides_where_nothing_varies() {
    let text = "[benchmark.a]\ncommand = 'a'\n[benchmark.b]\ncommand = 'a'\n";
    let plan = Plan {
        duet: duet("").duet,
        ..plan(&format!(
            "{text}[defaults]\ninstances = 4\niterations = 1\n"
        ))
    };
    let (_, records) = measure(&plan, [takes(1), takes(2)]);
    let mut cores: Vec<(String, u32, String)> = records
        .iter()
        .filter_map(|it| match it {
            Record::Instance(it) => Some((
                it.benchmark.id.clone(),
                it.block,
                it.attributes[DUET]["cores"].to_string().replace('"', ""),
            )),
            _ => None,
        })
        .collect();
    cores.sort();
    let expected = |id: &str, sets: [&str; 2]| -> Vec<(String, u32, String)> {
        (0..4_u32)
            .map(|block| (id.to_owned(), block, sets[block as usize % 2].to_owned()))
            .collect()
    };
    assert_eq!(
        cores,
        [
            expected("a", ["first", "second"]),
            expected("b", ["second", "first"])
        ]
        .concat()
    );
}
