//! One visit to a test: one process of pytest, whose iterations become ours.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::super::execution::event::Event;
use super::super::execution::execute::{Execution, ExecutionEnd, ExecutionResult};
use super::super::execution::kept::{LEAVES_PROCESSES, exit_fact};
use super::super::execution::runner::{EventOutlet, RunError, RunnerSurroundings, processor_time};
use super::super::repository::source::{CommitFolder, VariantPlace};
use super::confined;
use super::ending::{InstanceEnding, ending};
use super::left_over;
use super::output::{RecordedTest, read};
use crate::suite::{Case, CommandLine, PytestTest, Variant};
use lapwing_model::{
    Id, Instance, InstanceEnd, InstanceOutcome, Iteration, Object, Outcome, Record, Run,
};

/// How much of what pytest says is kept where something went wrong.
const TAIL: usize = 16 * 1024;
/// What a process may take besides its iterations: imports, fixtures of the session and module, their teardown.
const START_UP: Duration = Duration::from_secs(300);

/// Measures a test once; `instance` is what is known of the visit beforehand, and `run` the one that it belongs to.
///
/// Returns how the instance ended; `None` if somebody interrupted it.
pub(in super::super) fn measure_test(
    test: &PytestTest,
    (case, variant): (&Case, &Variant),
    variant_place: &VariantPlace,
    mut instance: Instance,
    run: &mut Run,
    around: &mut RunnerSurroundings<'_>,
    outlet: &mut EventOutlet<'_, '_>,
) -> Result<Option<InstanceOutcome>, RunError> {
    let file = left_over::output_file(&around.scratch, &instance);
    left_over::announce(&file, run, &instance);
    let limit = case.time_limit.map(|limit| whole_limit(case, limit));
    let words = words(test, (case, variant), variant_place, &file);
    let executed = around.executor.execute(&Execution {
        directory: variant_place.directory(case),
        environment: variant_place.environment(case, variant),
        time_limit: limit,
        keep_stdout: TAIL,
        keep_stderr: TAIL,
        counters: true,
        cpus: variant.cpu_list(),
        ..Execution::new(CommandLine::Words(words))
    })?;
    // It may hold anything that a test wrote into a message.
    let bytes = std::fs::read(&file).unwrap_or_default();
    // Before anything of it is kept: nobody may take it up a second time.
    left_over::remove(&file);
    let mut recorded = read(&String::from_utf8_lossy(&bytes), &case.benchmark.id);
    let place = variant_place.commit.as_ref();
    let root = root(test, place);
    let commit = place.map(|place| (place, root.as_path(), case.benchmark.id.as_str()));
    let InstanceEnding {
        outcome,
        message,
        cut_off,
    } = ending(&executed, &recorded, limit, commit);
    if place.is_some() {
        // What was collected is the working tree's test, and not the commit's.
        instance.benchmark.fingerprint = None;
    }
    recorded.describe(&mut instance, run);
    let process = process(&executed);
    instance
        .attributes
        .insert("process".to_owned(), process.into());
    match cut_off {
        Some(how) => {
            let iteration = cut_off_iteration(&recorded, instance.id, case, &executed, how);
            recorded.iterations.push(iteration);
        }
        None if recorded.end.is_none() => instance.attributes.extend(printed(&executed)),
        None => {}
    }
    if recorded.declare(run) {
        outlet.keep(&Record::Run(run.clone()))?;
    }
    let id = instance.id;
    outlet.keep(&Record::Instance(instance))?;
    for iteration in recorded.iterations {
        outlet.keep(&Record::Iteration(Iteration {
            instance: id,
            ..iteration
        }))?;
    }
    let mut observed = recorded.end.map(|it| it.observed).unwrap_or_default();
    observed.extend(around.watch.end(processor_time(&executed)));
    outlet.keep(&Record::InstanceEnd(InstanceEnd {
        message,
        observed,
        ..InstanceEnd::new(id, Some(around.clock.now()), outcome)
    }))?;
    if executed.left_behind > 0 && executed.end != ExecutionEnd::Interrupted {
        let id = &case.benchmark.id;
        outlet.send(&Event::Note(format!("{id}{LEAVES_PROCESSES}")))?;
    }
    Ok((executed.end != ExecutionEnd::Interrupted).then_some(outcome))
}

/// Returns the folder that the ids of tests start from.
fn root(test: &PytestTest, place: Option<&CommitFolder>) -> PathBuf {
    let root = Path::new(&test.root);
    place.map_or_else(|| root.to_owned(), |it| it.moved(root))
}

/// Returns the iteration that was under way when the process ended.
fn cut_off_iteration(
    recorded: &RecordedTest,
    instance: Id,
    case: &Case,
    executed: &ExecutionResult,
    (outcome, message): (Outcome, String),
) -> Iteration {
    let last = recorded.iterations.last();
    let index = last.map_or(0, |last| last.index.saturating_add(1));
    let mut attributes = printed(executed);
    attributes.extend(exit_fact(executed));
    Iteration {
        instance,
        index,
        offset: None,
        burn_in: index < case.burn_in.planned(),
        loops: 1,
        outcome,
        message: Some(message),
        metrics: BTreeMap::new(),
        attributes,
        artifacts: Object::new(),
        extra: Object::new(),
    }
}

/// Returns the end of what pytest printed.
fn printed(executed: &ExecutionResult) -> Object {
    let tails = [("stdout", &executed.stdout), ("stderr", &executed.stderr)];
    let tails = tails.iter().filter(|(_, tail)| !tail.bytes.is_empty());
    tails
        .map(|(name, tail)| ((*name).to_owned(), tail.text().into()))
        .collect()
}

/// Returns how pytest is called.
fn words(
    test: &PytestTest,
    (case, variant): (&Case, &Variant),
    variant_place: &VariantPlace,
    file: &Path,
) -> Vec<String> {
    let place = variant_place.commit.as_ref();
    let root = root(test, place);
    // A node id starts from pytest's root folder, an argument from the working directory.
    let node = root.join(&case.benchmark.id).display().to_string();
    let mut words = vec![variant_place.interpreter(test)];
    words.extend(["-m", "pytest", &node].map(str::to_owned));
    words.push(format!("--rootdir={}", root.display()));
    if let Some(place) = place {
        let id = &case.benchmark.id;
        words.extend(confined::options(place, &root, id, &test.arguments));
    }
    words.extend(test.arguments.iter().cloned());
    words.extend(["--lapwing", "--lapwing-driven", "--lapwing-output"].map(str::to_owned));
    words.push(file.display().to_string());
    let planned = case.burn_in.planned();
    if test.given.burn_in || planned != test.collected.burn_in {
        words.push(format!("--lapwing-burn-in={planned}"));
    }
    if test.given.iterations || case.iterations != test.collected.iterations {
        words.push(format!("--lapwing-iterations={}", case.iterations));
    }
    if let Some(limit) = case.time_limit
        && case.time_limit != test.collected.time_limit
    {
        words.push(format!("--lapwing-time-limit={}", limit.as_secs_f64()));
    }
    if case.max_failures != test.collected.max_failures {
        words.push(format!("--lapwing-max-failures={}", case.max_failures));
    }
    words.extend(variant.arguments.iter().cloned());
    words
}

fn whole_limit(case: &Case, limit: Duration) -> Duration {
    let iterations = case.burn_in.planned().saturating_add(case.iterations);
    limit.saturating_mul(iterations).saturating_add(START_UP)
}

/// Returns what the operating system counted for the process as a whole.
fn process(executed: &ExecutionResult) -> Object {
    let mut process = Object::new();
    process.insert("wall_time".to_owned(), json!(executed.wall.as_secs_f64()));
    if let Some(usage) = &executed.usage {
        for (name, value) in super::super::execution::values::counter_values(usage) {
            process.insert(name, json!(value));
        }
    }
    process.extend(exit_fact(executed));
    process
}
