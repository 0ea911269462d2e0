//! `lapwing run --plan`: the numbers of each benchmark come from a plan file.

use std::collections::BTreeMap;

use lapwing_measure::suite::{BurnIn, Case, GivenCounts, Plan, PlanEntry};
use lapwing_model::text::{counted, grouped, plural};

use super::options::Run;
use crate::error::CliError;
use crate::options::Context;
use crate::suite::plan_file::{BenchmarkNames, PlanFile, few};
use lapwing_measure::session::{PlannedSession, PythonEnvironments};

/// The plan of the measurements, with known times.
pub struct PlannedRun {
    pub session: PlannedSession,
    /// Whether the numbers are those of a plan file.
    pub from_file: bool,
    /// The mean time of an iteration in seconds by benchmark, if the plan file has it.
    pub means: BTreeMap<String, f64>,
}

impl PlannedRun {
    /// Returns a plan whose numbers and environments are its own.
    pub fn of(plan: Plan) -> Self {
        Self::with(plan, PythonEnvironments::default())
    }

    /// Returns a plan with the Python environments of its variants.
    pub fn with(plan: Plan, environments: PythonEnvironments) -> Self {
        Self {
            session: PlannedSession {
                plan,
                environments,
                selected_from: Vec::new(),
            },
            from_file: false,
            means: BTreeMap::new(),
        }
    }
}

/// The entries of a plan file for the benchmarks of a suite.
pub struct FilePlan<'a> {
    command: &'a Run,
    file: &'a PlanFile,
    entries: BTreeMap<String, PlanEntry>,
}

impl<'a> FilePlan<'a> {
    /// Assigns the entries of a plan file to all benchmarks.
    pub fn new(
        command: &'a Run,
        file: &'a PlanFile,
        session: &PlannedSession,
        context: &Context,
    ) -> Result<Self, CliError> {
        let ids: Vec<&str> = session.selected_from.iter().map(String::as_str).collect();
        let of_suite = command.command.is_empty() && command.words.is_empty();
        let names = BenchmarkNames {
            owner: if of_suite {
                format!("the suite `{}`", session.plan.suite)
            } else {
                "the command line".to_owned()
            },
            hint: if of_suite {
                "`lapwing run --dry-run` without --plan lists what it has".to_owned()
            } else {
                format!(
                    "a command is called by its text or by its --command-name: {}",
                    few(ids.iter().copied())
                )
            },
            ids: ids.clone(),
        };
        let entries = file.entries(&names, context)?;
        let named = ids.iter().zip(entries);
        Ok(Self {
            command,
            file,
            entries: named
                .filter_map(|(id, entry)| Some(((*id).to_owned(), entry?.clone())))
                .collect(),
        })
    }

    /// Replaces the numbers of the suite, but not those of the command line, and reports the benchmarks
    /// that it does not name. Returns the mean time of an iteration in seconds by benchmark, if the file has it.
    pub fn apply(
        &self,
        plan: &mut Plan,
        context: &Context,
    ) -> Result<BTreeMap<String, f64>, CliError> {
        let all = plan.cases.len();
        let path = self.file.path.display();
        let is_missing = |case: &Case| !self.entries.contains_key(&case.benchmark.id);
        let missing: Vec<String> = plan
            .cases
            .extract_if(.., |case| is_missing(case))
            .map(|case| case.benchmark.id)
            .collect();
        if plan.cases.is_empty() {
            let missing = few(missing.iter().map(String::as_str));
            return Err(CliError::input(format!("{path} names none of {missing}"))
                .hint("choose others with --benchmark or --tag, or leave --plan out"));
        }
        if !missing.is_empty() && !context.quiet {
            let verb = plural(missing.len(), "is", "are");
            context.terminal.note(&format!(
                "{} of {} {verb} not in {path} and {verb} not measured: {}",
                grouped(missing.len()),
                counted(all, "benchmark"),
                few(missing.iter().map(String::as_str))
            ));
        }
        let mut means = BTreeMap::new();
        for case in &mut plan.cases {
            let id = &case.benchmark.id;
            let Some(entry) = self.entries.get(id) else {
                continue;
            };
            if let Some(mean) = entry.mean {
                means.insert(id.clone(), mean);
            }
            self.set(case, entry);
        }
        Ok(means)
    }

    fn set(&self, case: &mut Case, entry: &PlanEntry) {
        let first = entry.first();
        if let (None, Some(first)) = (self.command.measuring.instances, first) {
            case.instances = first.instances;
        }
        if let (None, Some(first)) = (self.command.measuring.iterations, first) {
            case.iterations = first.iterations;
        }
        if self.command.measuring.burn_in.is_none() {
            case.burn_in = BurnIn::Fixed(entry.burn_in);
        }
        if let Some(test) = &mut case.pytest {
            test.given = GivenCounts {
                burn_in: true,
                iterations: true,
            };
        }
        // A minimum time would add iterations to those of the file.
        if self.command.min_time.is_none() {
            case.min_time = None;
        }
    }
}
