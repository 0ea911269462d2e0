//! Planned measurements, their order and their expected time: `lapwing run --dry-run`.

use std::io::{self, Write};

use lapwing_model::text::grouped;

use crate::quantity;
use crate::writing::Align::{Left, Right};
use crate::writing::Table;

/// A planned session.
#[derive(Debug)]
pub struct DryRunAnswer {
    /// The seed of the order.
    pub seed: u64,
    /// The instances in order.
    pub instances: Vec<DryRunInstance>,
    /// Whether two are measured at a time.
    pub in_pairs: bool,
    /// Lines on how the instances would become jobs of a cluster.
    pub submission: Vec<String>,
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

impl DryRunAnswer {
    /// Writes a line of totals, and the order.
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let planned = self.instances.iter().map(|instance| &instance.benchmark);
        let executions = planned.map(|it| u64::from(it.burn_in) + u64::from(it.iterations));
        writeln!(
            out,
            "{} instances, at least {} iterations, seed {}; {}",
            grouped(self.instances.len()),
            grouped(executions.sum::<u64>()),
            self.seed,
            self.expectation()
        )?;
        for line in &self.submission {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
        if !self.benchmarks.is_empty() {
            self.benchmark_table().text(out)?;
            writeln!(out)?;
        }
        self.instance_table().text(out)
    }

    fn expectation(&self) -> String {
        let planned = self.instances.iter().map(|instance| &instance.benchmark);
        let known: Vec<f64> = planned.filter_map(|it| it.expected).collect();
        let unknown = self.instances.len() - known.len();
        let seconds = known.iter().sum::<f64>() / if self.in_pairs { 2.0 } else { 1.0 };
        if known.is_empty() {
            "expected time unknown: no earlier measurements".to_owned()
        } else if unknown == 0 {
            format!("about {}", quantity(seconds, "s"))
        } else {
            format!(
                "about {} and {} instances not measured before",
                quantity(seconds, "s"),
                grouped(unknown)
            )
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
