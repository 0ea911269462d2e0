//! `lapwing trace what-if`: what the run would have taken under other conditions.

use std::path::PathBuf;

use clap::Args;
use lapwing_model::text::counted;
use lapwing_show::answers::trace::{WhatIfAnswer, usual_scenarios};
use lapwing_show::percent;
use lapwing_show::trace::{signed_percent, time};
use lapwing_show::writing::NotedAnswer;
use lapwing_trace::{Loads, Prediction, Scenario, TaskGraph, Trace, what_if};

use super::compare::runs_in;
use super::read::{ReadTrace, TraceFile};
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context};

/// Predict what the run would have taken under other conditions
///
/// The graph of the trace is replayed with the durations that were measured. Without any condition,
/// each is tried alone. The first row replays what was measured: its difference from the measurement
/// is the error of the model. Beyond 10 %, nothing is predicted.
///
/// Tasks compute for as long as measured, unless runs with other numbers of workers on the same machine
/// follow `--`: then for as long as those say for so many at once.
#[derive(Debug, Args)]
pub struct TraceWhatIf {
    #[command(flatten)]
    file: TraceFile,
    #[command(flatten)]
    answer: AnswerOptions,
    /// Number of workers, such as `1,2,4`: each task goes to the one that is free first
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    workers: Vec<u32>,
    /// Transfers take no time
    #[arg(long)]
    free_transfers: bool,
    /// Data are not copied to where they are already
    #[arg(long)]
    no_redundant_transfers: bool,
    /// The controller takes no time to plan and to notice completions
    #[arg(long)]
    instant_controller: bool,
    /// Tasks of a class are so many times as fast: `concat=2`
    #[arg(long, value_name = "CLASS=FACTOR", value_parser = parse_faster)]
    faster: Vec<(String, f64)>,
    /// Runs with other numbers of workers on the same machine, which tell how tasks slow each other down
    #[arg(value_name = "OTHER", last = true)]
    others: Vec<PathBuf>,
}

impl TraceWhatIf {
    /// Shows the predictions.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let ReadTrace { trace, notes } = self.file.read(context)?;
        let graph = TaskGraph::of(&trace).ok_or_else(|| {
            CliError::input("the trace does not say which tasks wait for which").hint(
                "give the graph with `--graph FILE`; docs/traces.md says which traces have one",
            )
        })?;
        if trace.is_of_processes() && self.faster.is_empty() {
            let text = "a record of processes has no workers and no controller to change";
            return Err(CliError::input(text)
                .hint("`--faster PROGRAM=2` predicts a program that is twice as fast"));
        }
        let classes: Vec<&str> = trace.tasks.iter().map(|it| trace.text(it.class)).collect();
        let mut faster = self.faster.iter();
        if let Some((class, _)) = faster.find(|(class, _)| !classes.contains(&class.as_str())) {
            return Err(CliError::input(format!("no task has the class `{class}`"))
                .hint("`lapwing trace tasks` lists the classes"));
        }
        let transfers = [
            ("--free-transfers", self.free_transfers),
            ("--no-redundant-transfers", self.no_redundant_transfers),
        ];
        let mut transfers = transfers
            .iter()
            .filter(|it| it.1 && trace.transfers.is_empty());
        if let Some((option, _)) = transfers.next() {
            return Err(CliError::input(format!(
                "{option} has nothing to change: the trace tells of no transfers"
            )));
        }
        let replayed = what_if(&trace, &graph, &Scenario::default());
        refuse_bad_model(&trace, &replayed)?;
        let mut scenarios = self.scenarios(&trace, replayed.workers);
        let mut others = Vec::new();
        for path in &self.others {
            others.extend(runs_in(path)?);
        }
        if !others.is_empty() {
            let runs: Vec<&Trace> = others.iter().chain([&trace]).collect();
            let loads = Loads::of(&runs);
            for scenario in &mut scenarios {
                scenario.loads = Some(loads.clone());
            }
        }
        let answer = WhatIfAnswer::new(&trace, &graph, replayed, &scenarios);
        let notes = &notes;
        let noted = NotedAnswer {
            answer: &answer,
            notes,
            next: None,
        };
        context.show(&noted, &self.answer)
    }

    /// Returns the scenario that was asked for, for each number of workers; each condition alone if none was.
    fn scenarios(&self, trace: &Trace, workers: usize) -> Vec<Scenario> {
        let asked = Scenario {
            workers: None,
            free_transfers: self.free_transfers,
            no_redundant_transfers: self.no_redundant_transfers,
            instant_controller: self.instant_controller,
            loads: None,
            faster: self.faster.iter().cloned().collect(),
        };
        if !self.workers.is_empty() {
            let scenarios = self.workers.iter().map(|workers| Scenario {
                workers: usize::try_from(*workers).ok(),
                ..asked.clone()
            });
            scenarios.collect()
        } else if asked == Scenario::default() {
            usual_scenarios(trace, workers)
        } else {
            vec![asked]
        }
    }
}

/// Refuses to predict by a replay that is far from what was measured.
fn refuse_bad_model(trace: &Trace, replayed: &Prediction) -> Result<(), CliError> {
    let limit = Prediction::LARGEST_ERROR;
    let (Some(measured), Some(error)) = (replayed.measured, replayed.error()) else {
        return Ok(());
    };
    if error.abs() <= limit {
        return Ok(());
    }
    let text = format!(
        "the run took {}, and its replay with {} takes {} ({}): beyond {}, it predicts nothing",
        time(measured),
        counted(replayed.workers, "worker"),
        time(replayed.replayed),
        signed_percent(error),
        percent(limit),
    );
    Err(CliError::input(text).hint(match trace.range() {
        None => "the trace does not say when tasks ran, so that their waits are unknown",
        Some(_) => "`lapwing trace findings` and `lapwing trace lint` may show why",
    }))
}

fn parse_faster(text: &str) -> Result<(String, f64), String> {
    let expected =
        || "write a class and how many times as fast it is, such as `concat=2`".to_owned();
    let (class, factor) = text.rsplit_once('=').ok_or_else(expected)?;
    let factor: f64 = factor
        .trim_end_matches(['x', '×'])
        .parse()
        .map_err(|_not_a_number| expected())?;
    if factor.is_finite() && factor > 0.0 && !class.is_empty() {
        Ok((class.to_owned(), factor))
    } else {
        Err(expected())
    }
}
