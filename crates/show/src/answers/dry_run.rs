//! Planned measurements, their order and their expected time: `lapwing run --dry-run`.

use lapwing_model::text::{counted, grouped};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::quantity;
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// A planned session.
#[derive(Debug)]
pub struct DryRunAnswer {
    /// The seed of the order.
    pub seed: u64,
    /// The instances in order.
    pub instances: Vec<DryRunInstance>,
    /// Whether two are measured at a time.
    pub in_pairs: bool,
    /// How the instances would become jobs of a cluster.
    pub submission: Option<PlannedSubmission>,
    /// Each benchmark in all variants, if its numbers are those of a plan file.
    pub benchmarks: Vec<DryRunBenchmark>,
}

/// The numbers of a benchmark.
#[derive(Debug, Clone)]
pub struct DryRunBenchmark {
    /// Its id.
    pub id: String,
    /// Number of instances in all variants.
    pub instances: u32,
    /// Burn-in iterations per instance.
    pub burn_in: u32,
    /// Further iterations per instance.
    pub iterations: u32,
    /// The expected time in seconds; `None` if it was not measured before.
    pub expected: Option<f64>,
}

/// A planned instance.
#[derive(Debug)]
pub struct DryRunInstance {
    /// Its benchmark, with the numbers of this instance.
    pub benchmark: DryRunBenchmark,
    /// Its position in the session, from 0.
    pub position: u32,
    /// The label of its variant.
    pub variant: String,
    /// Its block, from 0.
    pub block: u32,
}

/// How instances become jobs of a cluster.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlannedSubmission {
    /// Number of jobs.
    pub jobs: usize,
    /// Number of batches.
    pub batches: usize,
    /// Jobs of the largest batch.
    pub largest_batch: usize,
    /// Maximum number of jobs at the same time.
    pub in_flight: Option<usize>,
    /// Number of nodes that are named.
    pub nodes: usize,
    /// The command of the first batch.
    pub submit: String,
    /// Folder of job scripts and records.
    pub folder: String,
}

/// The plan for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct DryRunFields<'a> {
    seed: u64,
    /// Number of instances.
    planned_instances: usize,
    /// The least number of iterations, burn-in included.
    least_iterations: u64,
    /// Expected time in seconds, of the instances that were measured before.
    expected_seconds: Option<f64>,
    /// Number of instances whose time is unknown.
    unknown_instances: usize,
    /// Whether two instances are measured at a time.
    in_pairs: bool,
    /// Benchmarks of a plan file, in all variants.
    benchmarks: Vec<PlannedFields<'a>>,
    /// The instances in order.
    instances: Vec<PlannedInstanceFields<'a>>,
    submission: Option<&'a PlannedSubmission>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlannedFields<'a> {
    benchmark: &'a str,
    instances: u32,
    /// Burn-in iterations per instance.
    burn_in: u32,
    /// Further iterations per instance.
    iterations: u32,
    expected_seconds: Option<f64>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct PlannedInstanceFields<'a> {
    /// Its position in the session, from 1.
    position: u32,
    benchmark: &'a str,
    variant: &'a str,
    /// Its number among those of its benchmark and variant, from 1.
    instance: u32,
    burn_in: u32,
    /// Further iterations.
    iterations: u32,
    expected_seconds: Option<f64>,
}

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<DryRunFields<'_>>("dry-run").listing("instances");

impl Answer for DryRunAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, view: View) -> TextAnswer {
        let mut notes: Vec<Note> = self.submission.iter().flat_map(submission_notes).collect();
        let hidden = self.omitted_rows(view);
        if hidden > 0 {
            let text = format!(
                "the order of the {} is not listed: `--full`",
                counted(hidden, "instance")
            );
            notes.push(Note::marked("order", text).with("instances", hidden));
        }
        TextAnswer {
            headline: format!(
                "{}, at least {}, seed {}; {}",
                counted(self.instances.len(), "instance"),
                counted(self.least_iterations(), "iteration"),
                self.seed,
                self.expectation()
            ),
            table: if self.benchmarks.is_empty() || view.full {
                self.instance_table()
            } else {
                self.benchmark_table()
            },
            notes,
            ..TextAnswer::default()
        }
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        let benchmarks = self.benchmarks.iter().map(|it| PlannedFields {
            benchmark: &it.id,
            instances: it.instances,
            burn_in: it.burn_in,
            iterations: it.iterations,
            expected_seconds: it.expected,
        });
        let (expected_seconds, unknown_instances) = self.expected();
        Ok(serde_json::to_value(DryRunFields {
            seed: self.seed,
            planned_instances: self.instances.len(),
            least_iterations: self.least_iterations(),
            expected_seconds,
            unknown_instances,
            in_pairs: self.in_pairs,
            benchmarks: benchmarks.collect(),
            instances: match self.omitted_rows(view) {
                0 => self.instance_rows(),
                _all => Vec::new(),
            },
            submission: self.submission.as_ref(),
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.instance_rows())
    }

    fn omitted_rows(&self, view: View) -> usize {
        if self.benchmarks.is_empty() || view.full {
            0
        } else {
            self.instances.len()
        }
    }
}

/// Returns lines on how instances would be submitted.
fn submission_notes(planned: &PlannedSubmission) -> [Note; 2] {
    let limit = planned.in_flight.map_or_else(String::new, |it| {
        format!(", at most {} at the same time", grouped(it))
    });
    let batches = match planned.batches {
        0 | 1 => String::new(),
        several => format!(
            " in {} batches of up to {}{}",
            grouped(several),
            grouped(planned.largest_batch),
            match planned.nodes {
                0 => String::new(),
                nodes => format!(", over {}", counted(nodes, "node")),
            }
        ),
    };
    let jobs = counted(planned.jobs, "job");
    let text = format!(
        "would be submitted as {jobs}{batches}{limit}: `{}`",
        planned.submit
    );
    let folder = format!("job scripts and records: {}", planned.folder);
    [
        Note::new("submission", text).with("jobs", planned.jobs),
        Note::new("job_folder", folder).with("folder", planned.folder.clone()),
    ]
}

impl DryRunAnswer {
    fn least_iterations(&self) -> u64 {
        let planned = self.instances.iter().map(|instance| &instance.benchmark);
        let executions = planned.map(|it| u64::from(it.burn_in) + u64::from(it.iterations));
        executions.sum()
    }

    fn instance_rows(&self) -> Vec<PlannedInstanceFields<'_>> {
        let rows = self.instances.iter().map(|it| PlannedInstanceFields {
            position: it.position + 1,
            benchmark: &it.benchmark.id,
            variant: &it.variant,
            instance: it.block + 1,
            burn_in: it.benchmark.burn_in,
            iterations: it.benchmark.iterations,
            expected_seconds: it.benchmark.expected,
        });
        rows.collect()
    }

    /// Returns the expected time of the instances that were measured before, and the number of the others.
    fn expected(&self) -> (Option<f64>, usize) {
        let planned = self.instances.iter().map(|instance| &instance.benchmark);
        let known: Vec<f64> = planned.filter_map(|it| it.expected).collect();
        let seconds = known.iter().sum::<f64>() / if self.in_pairs { 2.0 } else { 1.0 };
        let is_known = !known.is_empty();
        (
            is_known.then_some(seconds),
            self.instances.len() - known.len(),
        )
    }

    fn expectation(&self) -> String {
        match self.expected() {
            (None, _) => "expected time unknown: no earlier measurements".to_owned(),
            (Some(seconds), 0) => format!("about {}", quantity(seconds, "s")),
            (Some(seconds), unknown) => format!(
                "about {} and {} not measured before",
                quantity(seconds, "s"),
                counted(unknown, "instance")
            ),
        }
    }

    fn instance_table(&self) -> Table {
        let mut table = Table::new(&[
            ("", Right),
            ("benchmark", Left),
            ("variant", Left),
            ("instance", Right),
            ("iterations", Right),
            ("expected", Right),
        ]);
        for instance in &self.instances {
            table.row(vec![
                (instance.position + 1).to_string(),
                instance.benchmark.id.clone(),
                instance.variant.clone(),
                (instance.block + 1).to_string(),
                instance.benchmark.iterations_text(),
                instance.benchmark.expected_text(),
            ]);
        }
        table
    }

    fn benchmark_table(&self) -> Table {
        let mut table = Table::new(&[
            ("benchmark", Left),
            ("instances", Right),
            ("iterations", Right),
            ("expected", Right),
        ]);
        for benchmark in &self.benchmarks {
            table.row(vec![
                benchmark.id.clone(),
                grouped(benchmark.instances),
                benchmark.iterations_text(),
                benchmark.expected_text(),
            ]);
        }
        table
    }
}

impl DryRunBenchmark {
    fn iterations_text(&self) -> String {
        format!("{} + {}", self.burn_in, self.iterations)
    }

    fn expected_text(&self) -> String {
        let seconds = self.expected.map(|seconds| quantity(seconds, "s"));
        seconds.unwrap_or_else(|| "–".to_owned())
    }
}
