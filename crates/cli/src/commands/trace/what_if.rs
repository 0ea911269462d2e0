//! `lapwing trace what-if`: what the run would have taken under other conditions.

use std::collections::BTreeMap;
use std::io;

use clap::Args;
use lapwing_model::text::counted;
use lapwing_show::trace::{share, signed_percent, time};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::{AnswerFormat, Table, TextAnswer};
use lapwing_trace::{Prediction, Scenario, TaskGraph, Trace, what_if};
use serde_json::json;

use super::read::{ShownTrace, write};
use crate::answer::{write_csv, write_json};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Predict what the run would have taken under other conditions
///
/// The graph of the trace is replayed with the durations that were measured. Without any condition,
/// each is tried alone. The first row replays what was measured: its difference from the measurement
/// is the error of the model.
#[derive(Debug, Args)]
pub struct TraceWhatIf {
    #[command(flatten)]
    file: ShownTrace,
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
}

/// A scenario and what it would take, in ns.
#[derive(Debug, Default, serde::Serialize)]
struct ScenarioRow {
    scenario: String,
    workers: usize,
    makespan: i64,
    /// The makespan relative to that of the replay of what was measured.
    ratio: f64,
}

impl TraceWhatIf {
    /// Shows the predictions.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let trace = self.file.read(context)?;
        let graph = TaskGraph::of(&trace).ok_or_else(|| {
            CliError::input("the trace does not say which tasks wait for which").hint(
                "give the graph with `--graph FILE`; docs/traces.md says which traces have one",
            )
        })?;
        let classes: Vec<&str> = trace.tasks.iter().map(|it| trace.text(it.class)).collect();
        if let Some((class, _)) = (self.faster.iter()).find(|it| !classes.contains(&it.0.as_str()))
        {
            return Err(CliError::input(format!("no task has the class `{class}`"))
                .hint("`lapwing trace show tasks` lists the classes"));
        }
        let replayed = what_if(&trace, &graph, &Scenario::default());
        let scenarios = self.scenarios(replayed.workers);
        let mut rows = vec![ScenarioRow {
            scenario: "as measured".to_owned(),
            workers: replayed.workers,
            makespan: replayed.replayed,
            ratio: 1.0,
        }];
        for (name, scenario) in scenarios {
            let prediction = what_if(&trace, &graph, &scenario);
            rows.push(ScenarioRow {
                scenario: name,
                workers: prediction.workers,
                makespan: prediction.predicted,
                ratio: share(prediction.predicted, replayed.replayed),
            });
        }
        let mut out = io::stdout().lock();
        let written = match self.file.answer.format {
            AnswerFormat::Json => write_json(
                &json!({
                    "measured": replayed.measured,
                    "replayed": replayed.replayed,
                    "error": replayed.error(),
                    "scenarios": rows,
                }),
                &mut out,
            ),
            AnswerFormat::Csv => write_csv(&rows, &mut out),
            AnswerFormat::Text | AnswerFormat::Markdown => {
                drop(out);
                let answer = answer(&trace, &graph, &replayed, &rows);
                write(answer, &[&trace], self.file.answer.format, context)
            }
        };
        CliError::unless_reader_left(written)?;
        Ok(ExitStatus::Fine)
    }

    /// Returns the scenario that was asked for, for each number of workers; each condition alone if none was.
    fn scenarios(&self, workers: usize) -> Vec<(String, Scenario)> {
        let asked = Scenario {
            workers: None,
            free_transfers: self.free_transfers,
            no_redundant_transfers: self.no_redundant_transfers,
            instant_controller: self.instant_controller,
            faster: self.faster.iter().cloned().collect::<BTreeMap<_, _>>(),
        };
        if asked == Scenario::default() && self.workers.is_empty() {
            let default = Scenario::default;
            let each = [
                Scenario {
                    workers: Some(2 * workers),
                    ..default()
                },
                Scenario {
                    free_transfers: true,
                    ..default()
                },
                Scenario {
                    no_redundant_transfers: true,
                    ..default()
                },
                Scenario {
                    instant_controller: true,
                    ..default()
                },
                Scenario {
                    free_transfers: true,
                    instant_controller: true,
                    ..default()
                },
            ];
            return each.into_iter().map(|it| (in_words(&it), it)).collect();
        }
        if self.workers.is_empty() {
            return vec![(in_words(&asked), asked)];
        }
        let each = self.workers.iter().map(|workers| {
            let scenario = Scenario {
                workers: usize::try_from(*workers).ok(),
                ..asked.clone()
            };
            (in_words(&scenario), scenario)
        });
        each.collect()
    }
}

fn answer(
    trace: &Trace,
    graph: &TaskGraph,
    replayed: &Prediction,
    rows: &[ScenarioRow],
) -> TextAnswer {
    let mut table = Table::new(&[
        ("scenario", Left),
        ("workers", Right),
        ("makespan", Right),
        ("change", Right),
    ]);
    for row in rows {
        table.row(vec![
            row.scenario.clone(),
            row.workers.to_string(),
            time(row.makespan),
            match row.ratio {
                1.0 => String::new(),
                ratio => signed_percent(ratio - 1.0),
            },
        ]);
    }
    let ideal = graph.ideal(trace);
    let mut notes = vec![format!(
        "the critical path of {} takes {}: no number of workers makes the run faster",
        counted(ideal.path.len(), "task"),
        time(ideal.critical)
    )];
    if let (Some(measured), Some(error)) = (replayed.measured, replayed.error()) {
        notes.push(format!(
            "measured: {}; the replay of the same setting differs by {}",
            time(measured),
            signed_percent(error)
        ));
    }
    if graph.circular > 0 {
        notes.push(format!(
            "{} left out, because tasks would wait for themselves",
            counted(graph.circular, "input")
        ));
    }
    TextAnswer {
        headline: format!(
            "{} in {} with {}",
            counted(trace.tasks.len(), "task"),
            time(replayed.measured.unwrap_or(replayed.replayed)),
            counted(replayed.workers, "worker")
        ),
        table,
        notes,
    }
}

fn in_words(scenario: &Scenario) -> String {
    let mut words = Vec::new();
    if let Some(workers) = scenario.workers {
        words.push(counted(workers, "worker"));
    }
    if scenario.free_transfers {
        words.push("free transfers".to_owned());
    }
    if scenario.no_redundant_transfers {
        words.push("no redundant transfers".to_owned());
    }
    if scenario.instant_controller {
        words.push("instant controller".to_owned());
    }
    let faster = scenario.faster.iter();
    words.extend(faster.map(|(class, factor)| format!("{class} {factor}× as fast")));
    lapwing_model::text::joined(words)
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
