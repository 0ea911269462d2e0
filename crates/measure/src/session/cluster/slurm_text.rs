//! Parses the output of Slurm's programs.

use std::collections::BTreeMap;

use super::scheduler::{JobReport, JobState};

/// The fields of `squeue --Format`, each ended by a bar.
pub const SQUEUE_FIELDS: &str =
    "ArrayJobID:|,ArrayTaskID:|,State:|,exit_code:|,NodeList:|,Reason:|";
/// The fields of `sacct --format`.
pub const SACCT_FIELDS: &str = "JobID,State,ExitCode,NodeList";

/// The most numbers that one entry may stand for: a range can be written that no array has.
const MOST_NUMBERS: usize = 1 << 22;

/// Returns the tasks of arrays by their ids, such as `81_4`. Those that wait share a line.
pub fn parse_squeue(text: &str) -> BTreeMap<String, JobReport> {
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[array, tasks, word, exit, node, ..] = &*fields else {
            continue;
        };
        let Some(state) = JobState::of_word(word) else {
            continue;
        };
        let exit = exit.parse().ok().filter(|_| state.is_over());
        let report = JobReport {
            state,
            word: word.to_owned(),
            exit: exit.and_then(exit_of_status),
            node: named(node),
        };
        let tasks = numbers(tasks).into_iter();
        found.extend(tasks.map(|task| (format!("{array}_{task}"), report.clone())));
    }
    found
}

/// Returns what `squeue`'s exit code, which is that of `wait`, means.
fn exit_of_status(status: u32) -> Option<String> {
    match (status & 0x7f, status >> 8) {
        (0, 0) => None,
        (0, code) => Some(format!("exit code {code}")),
        (signal, _) => Some(format!("signal {signal}")),
    }
}

/// Returns what accounting knows of tasks, by their ids.
pub fn parse_sacct(text: &str) -> BTreeMap<String, JobReport> {
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[job, word, exit, node] = &*fields else {
            continue;
        };
        let Some(state) = JobState::of_word(word) else {
            continue;
        };
        // `81_[5-9%2]`: tasks that wait.
        let (array, tasks) = job.split_once('_').unwrap_or((job, ""));
        let tasks = tasks.trim_start_matches('[').trim_end_matches(']');
        let report = JobReport {
            state,
            word: word.split(' ').next().unwrap_or(word).to_owned(),
            exit: exit_of_pair(exit),
            node: named(node),
        };
        let tasks = numbers(tasks).into_iter();
        found.extend(tasks.map(|task| (format!("{array}_{task}"), report.clone())));
    }
    found
}

/// Returns the meaning of `CODE:SIGNAL`.
fn exit_of_pair(text: &str) -> Option<String> {
    match text.split_once(':')? {
        ("0", "0") => None,
        (code, "0") => Some(format!("exit code {code}")),
        (_, signal) => Some(format!("signal {signal}")),
    }
}

fn named(node: &str) -> Option<String> {
    let is_none = matches!(node, "" | "(null)" | "None assigned");
    (!is_none).then(|| node.to_owned())
}

/// Returns the numbers of an expression such as `3`, `0-4,9` or `0-40:2%8`.
fn numbers(text: &str) -> Vec<usize> {
    let text = text.split('%').next().unwrap_or(text);
    let mut all = Vec::new();
    for part in text.split(',') {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let [first, last, step] = [first, last, step].map(|it| it.parse::<usize>());
        if let (Ok(first), Ok(last), Ok(step)) = (first, last, step) {
            all.extend((first..=last).step_by(step.max(1)).take(MOST_NUMBERS));
        }
    }
    all
}

/// Returns how many tasks an array may have.
pub fn largest_array(config: &str) -> Option<usize> {
    let line = config.lines().find(|it| it.starts_with("MaxArraySize"))?;
    let number = line.split_once('=')?.1.trim();
    number.parse().ok().filter(|it| *it > 0)
}

/// Returns the nodes of `sinfo` that jobs can run on.
pub fn usable_nodes(text: &str) -> Vec<String> {
    let mut nodes: Vec<String> = text
        .lines()
        .filter_map(|line| {
            let (node, state) = line.split_once('|')?;
            let state = state.trim().trim_end_matches('|');
            let starts = ["idle", "mixed", "allocated", "completing"];
            // A star marks one that does not answer.
            let is_usable = starts.iter().any(|it| state.starts_with(it)) && !state.contains('*');
            is_usable.then(|| node.trim().to_owned())
        })
        .collect();
    nodes.sort();
    nodes.dedup();
    nodes
}

#[cfg(test)]
mod tests;
