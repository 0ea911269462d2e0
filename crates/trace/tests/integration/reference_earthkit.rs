//! Compares durations with those that another program computed from traces of earthkit-workflows.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use lapwing_testing::reference_data;
use lapwing_trace::{
    DurationGroup, Statistics, TaskDuration, TaskEvent, Trace, TraceReader, TransferDuration,
    durations, run_path, transfer_durations, worker_time,
};
use serde_json::Value;

fn read(path: &Path) -> Trace {
    let mut reader = TraceReader::default();
    let file = File::open(path).unwrap();
    reader.add(BufReader::new(file)).unwrap();
    reader.finish().unwrap()
}

fn json(path: &Path) -> Value {
    serde_json::from_reader(File::open(path).unwrap()).unwrap()
}

/// The unit of the published plots.
const MS: i64 = 1_000_000;

fn assert_statistics(what: &str, actual: Option<&Statistics>, expected: &Value, unit: i64) {
    let actual = actual.unwrap_or_else(|| panic!("{what} is missing"));
    for (name, value) in [
        ("sum", actual.sum),
        ("max", actual.max),
        ("min", actual.min),
    ] {
        let expected = expected[name].as_i64().unwrap();
        assert_eq!(value, expected * unit, "{what} {name}");
    }
    for (name, value) in [
        ("mean", actual.mean),
        ("median", actual.median),
        ("p90_linear", actual.p90),
    ] {
        if let Some(expected) = expected[name].as_f64() {
            #[expect(clippy::cast_precision_loss, reason = "a million")]
            let expected = expected * unit as f64;
            assert!(
                (value - expected).abs() <= 1e-9 * expected.abs(),
                "{what} {name}: {value} is not {expected}"
            );
        }
    }
}

#[test]
fn published_plots_give_the_expected_durations() {
    let Some(folder) = reference_data("earthkit") else {
        return;
    };
    let expected = json(&folder.join("expected_run3.json"));
    for (scenario, expected) in expected.as_object().unwrap() {
        let trace = read(&folder.join(format!("run3_{scenario}.events.jsonl")));
        assert_eq!(
            trace.tasks.len(),
            usize::try_from(expected["n_tasks"].as_u64().unwrap()).unwrap()
        );
        assert_eq!(
            trace.makespan(),
            expected["makespan_ms"].as_i64().unwrap() * MS,
            "{scenario}"
        );
        let all = &durations(&trace, DurationGroup::All)[""];
        for (name, duration) in [
            ("total_e2e", TaskDuration::Total),
            ("total_worker", TaskDuration::OnWorker),
            ("comm2worker", TaskDuration::ToWorker),
            ("task_procstart", TaskDuration::Queue),
            ("task_load", TaskDuration::Load),
            ("task_callablerun", TaskDuration::Compute),
            ("task_publish", TaskDuration::Publish),
            ("comm2ctrl", TaskDuration::ToController),
        ] {
            let what = format!("{scenario} {name}");
            assert_statistics(&what, all.get(&duration), &expected[name], MS);
        }
        let time = worker_time(&trace).unwrap();
        for (worker, busy) in expected["busy_union_ms_by_worker"].as_object().unwrap() {
            let found = time
                .busy
                .iter()
                .find(|(name, _)| trace.text(**name) == worker);
            assert_eq!(
                found.map(|(_, it)| *it),
                busy.as_i64().map(|it| it * MS),
                "{scenario} {worker}"
            );
        }
        let utilisation = expected["utilisation"].as_f64().unwrap();
        assert!(
            (time.utilisation().unwrap() - utilisation).abs() < 1e-9,
            "{scenario}"
        );
        let spent: i64 = time.parts.values().sum();
        assert_eq!(spent + time.idle, time.all(), "{scenario}");
        let transfers = transfer_durations(&trace);
        let count: usize = transfers.values().map(|(count, _)| count).sum();
        assert_eq!(
            Some(count as u64),
            expected["n_transmits"].as_u64().or(Some(0)),
            "{scenario}"
        );
        let path = run_path(&trace).unwrap();
        assert!(path.duration() <= trace.makespan(), "{scenario}");
        for (name, duration) in [
            ("tx_total", TransferDuration::Total),
            ("tx_comm2source", TransferDuration::ToSource),
            ("tx_loadDelay", TransferDuration::Load),
            ("tx_comm2target", TransferDuration::ToTarget),
            ("tx_unloadDelay", TransferDuration::Unload),
            ("tx_comm2ctrl", TransferDuration::ToController),
        ] {
            if expected[name].is_object() {
                let (_, found) = transfers.values().next().unwrap();
                assert_statistics(name, found.get(&duration), &expected[name], MS);
            }
        }
    }
}

#[test]
fn durations_of_the_first_dialect_are_those_of_the_notebook() {
    let Some(folder) = reference_data(".") else {
        return;
    };
    let expected = json(&folder.join("reference/D_traces.json"));
    for (scenario, expected) in expected["earthkit"].as_object().unwrap() {
        let trace = read(&folder.join(format!("D_traces/earthkit/{scenario}.jsonl")));
        let times = |event| trace.tasks.iter().filter_map(move |it| it.at(event));
        let span = times(TaskEvent::Published)
            .max()
            .zip(times(TaskEvent::Planned).min());
        let span = span.map(|(end, start)| end - start);
        assert_eq!(span, expected["makespan"].as_i64(), "{scenario}");
        let all = &durations(&trace, DurationGroup::All)[""];
        for (name, duration) in [
            ("commDelay", TaskDuration::ToWorker),
            ("queueDelay", TaskDuration::Queue),
            ("onWorker", TaskDuration::OnWorker),
        ] {
            let what = format!("{scenario} {name}");
            assert_statistics(&what, all.get(&duration), &expected["totals"][name], 1);
        }
        // The first version of the notebook counts loading and publishing as running, and nothing after that.
        let sum = |parts: &[TaskDuration]| -> i64 { parts.iter().map(|it| all[it].sum).sum() };
        let runtimes = sum(&[
            TaskDuration::Load,
            TaskDuration::Compute,
            TaskDuration::Publish,
        ]);
        let total = sum(&[TaskDuration::Total]) - sum(&[TaskDuration::ToController]);
        for (name, found) in [("runtimes", runtimes), ("total", total)] {
            assert_eq!(
                Some(found),
                expected["totals"][name]["sum"].as_i64(),
                "{scenario} {name}"
            );
        }
        let workers = durations(&trace, DurationGroup::Worker);
        for (worker, expected) in expected["per_worker_onWorker"].as_object().unwrap() {
            let found = &workers[worker][&TaskDuration::OnWorker];
            assert_eq!(Some(found.sum), expected["sum"].as_i64());
        }
    }
}
