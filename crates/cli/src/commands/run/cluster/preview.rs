//! `lapwing run --executor slurm --dry-run`: how instances would be submitted.

use std::collections::BTreeMap;
use std::process::Command;

use lapwing_measure::FixedSchedule;
use lapwing_measure::session::cluster::{
    JobBatch, SharedFolder, node_of, nodes_of, scheduler_of, shared_folder, tasks_of,
};
use lapwing_measure::suite::{ClusterSettings, CommandLine, Plan, command_text};
use lapwing_show::answers::dry_run::PlannedSubmission;

use crate::error::CliError;
use crate::options::Context;

/// Stands for the id of the session, which has none yet.
const SESSION: &str = "SESSION";

/// Returns how the instances of a plan would be submitted.
pub fn preview(
    settings: &ClusterSettings,
    plan: &Plan,
    context: &Context,
) -> Result<PlannedSubmission, CliError> {
    let mut scheduler = scheduler_of(settings, context.surroundings().interrupts);
    let nodes = nodes_of(settings, scheduler.as_mut()).map_err(CliError::input)?;
    let tasks = tasks_of(plan, FixedSchedule::new(plan).left().copied());
    let mut by_node: BTreeMap<Option<String>, usize> = BTreeMap::new();
    for task in &tasks {
        *by_node.entry(node_of(task, &nodes)).or_default() += 1;
    }
    let most = scheduler.largest_batch().max(1);
    let in_flight = settings.in_flight;
    let largest = by_node.values().max().map_or(0, |it| *it.min(&most));
    let batches: usize = by_node.values().map(|it| it.div_ceil(most)).sum();
    let folder = SharedFolder::open(&shared_folder(settings, &context.store)?.join(SESSION));
    let batch = JobBatch {
        name: format!("lapwing-{SESSION}-1"),
        script: folder.script(1),
        outputs: (!settings.shares_folder()).then(|| folder.outputs()),
        tasks: largest,
        logs: folder.logs(),
        log_prefix: "1".to_owned(),
        directory: context.machine.places().directory.clone(),
        in_flight,
        node: by_node.into_keys().next().flatten(),
    };
    Ok(PlannedSubmission {
        jobs: tasks.len(),
        batches,
        largest_batch: largest,
        in_flight: in_flight.map(|it| it as usize),
        nodes: nodes.len(),
        submit: text_of(&scheduler.submission(&batch)),
        folder: folder.path().display().to_string(),
    })
}

/// Returns a command as it would be written in a shell.
fn text_of(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|it| it.to_string_lossy().into_owned());
    command_text(&CommandLine::Words(words.collect()))
}
