//! Plans: the configurations chosen for many benchmarks, as far as a budget allows.

mod budget;

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::Configuration;

use super::choice::{Choice, Chosen, PlanOptions, Simulation, Unmet};

/// The choices for all benchmarks.
#[derive(Debug)]
pub struct BudgetedPlan {
    /// A line for each benchmark, setting and metric.
    pub lines: Vec<PlanLine>,
    /// The budget, in seconds of machine time.
    pub budget: Option<f64>,
    /// The options of the choices.
    pub options: PlanOptions,
}

/// The choice for a benchmark.
#[derive(Debug)]
pub struct PlanLine {
    /// The choice.
    pub choice: Choice,
    /// Its fate.
    pub fate: LineFate,
    /// Index of the first slowdown that is not too expensive for the budget.
    first_affordable: usize,
    /// Simulation of configurations entered in a review.
    simulation: Option<Simulation>,
}

/// The fate of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineFate {
    /// It is run.
    Kept,
    /// It does not fit into the budget.
    BeyondBudget,
    /// There is a budget, and its cost is unknown.
    CostUnknown,
    /// No configuration detects the slowdown.
    Unable,
    /// It was skipped in the review.
    Skipped,
}

impl PlanLine {
    /// Returns the line of a choice; without a simulation it cannot be changed.
    pub fn new(choice: Choice, simulation: Option<Simulation>) -> Self {
        Self {
            choice,
            fate: LineFate::Kept,
            first_affordable: 0,
            simulation,
        }
    }

    /// Changes the configuration, in a review.
    pub fn change(&mut self, configuration: Configuration) {
        if let Some(simulation) = &mut self.simulation {
            self.choice.change(configuration, simulation);
            self.fate = LineFate::Kept;
        }
    }

    /// Returns the configuration to run: for the smallest slowdown that is possible and fits into the budget.
    pub fn first(&self) -> Option<(f64, &Chosen)> {
        let (slowdown, found) = self.choice.found.get(self.first_index()?)?;
        Some((*slowdown, found.as_ref().ok()?))
    }

    /// Returns the index of that slowdown.
    fn first_index(&self) -> Option<usize> {
        let mut indices = self.first_affordable..self.choice.found.len();
        indices.find(|index| self.choice.found[*index].1.is_ok())
    }

    /// Returns the first slowdown that is not detected as requested.
    pub fn unmet(&self) -> Option<(f64, &Unmet)> {
        let mut found = self.choice.found.iter();
        found.find_map(|(slowdown, found)| Some((*slowdown, found.as_ref().err()?.as_ref())))
    }

    /// Returns the cost of the run in seconds; `None` if no time is known.
    pub fn cost(&self) -> Option<f64> {
        let (_, chosen) = self.first()?;
        self.cost_with(chosen)
    }

    /// Returns the cost of a configuration in seconds; `None` if no time is known.
    pub fn cost_with(&self, chosen: &Chosen) -> Option<f64> {
        Some(self.choice.costs?.of(chosen.configuration))
    }

    /// Returns whether the run detects this slowdown with the power.
    fn detects(&self, slowdown: f64, options: &PlanOptions) -> bool {
        let run = self.first().map(|(_, chosen)| chosen.configuration);
        // A configuration that detects a slowdown also detects larger ones.
        let detects = |(found, chosen): &(f64, Result<Chosen, _>)| {
            let chosen = chosen.as_ref().ok();
            let of_run = chosen.filter(|chosen| Some(chosen.configuration) == run);
            *found <= slowdown && of_run.is_some_and(|chosen| options.has_power(chosen))
        };
        self.fate == LineFate::Kept && self.choice.found.iter().any(detects)
    }
}

impl BudgetedPlan {
    /// Returns the indices of the lines of each benchmark, by suite and id.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        for (at, line) in self.lines.iter().enumerate() {
            let key = (line.choice.suite.as_str(), line.choice.benchmark.as_str());
            groups.entry(key).or_default().push(at);
        }
        groups.into_values().collect()
    }

    /// Returns the number of benchmarks that detect this slowdown in all of their lines.
    pub fn able(&self, slowdown: f64) -> usize {
        let detects = |at: &usize| self.lines[*at].detects(slowdown, &self.options);
        let groups = self.groups().into_iter();
        groups.filter(|group| group.iter().all(detects)).count()
    }

    /// Returns the lines that are run.
    pub fn kept(&self) -> impl Iterator<Item = &PlanLine> {
        let lines = self.lines.iter();
        lines.filter(|line| line.fate == LineFate::Kept)
    }

    /// Returns whether all lines were skipped.
    pub fn is_skipped(&self) -> bool {
        !self.lines.is_empty() && self.lines.iter().all(|line| line.fate == LineFate::Skipped)
    }

    /// Returns the benchmarks that have such a line, each once, in their order.
    pub fn names(&self, is_meant: impl Fn(&PlanLine) -> bool) -> Vec<&str> {
        let mut known = BTreeSet::new();
        let lines = self.lines.iter().filter(|line| is_meant(line));
        let names = lines.map(|line| line.choice.benchmark.as_str());
        names.filter(|name| known.insert(*name)).collect()
    }

    /// Returns the benchmarks of which several lines are run, which share one entry of a plan file, in alphabetical order.
    pub fn shared_names(&self) -> Vec<&str> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for line in self.kept() {
            *counts.entry(&line.choice.benchmark).or_default() += 1;
        }
        counts.retain(|_, count| *count > 1);
        counts.into_keys().collect()
    }
}
