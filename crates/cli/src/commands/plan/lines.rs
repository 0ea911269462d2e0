//! The choice for every benchmark, and its fate.

use std::collections::BTreeMap;

use lapwing_analyse::clean::Audit;
use lapwing_analyse::explain::{Choice, Chosen, PlanOptions, Simulation, Unmet};
use lapwing_show::answers::not_judged::NotJudged;
use lapwing_stats::Configuration;

/// The choices for all benchmarks.
pub struct ChosenPlan {
    /// The benchmarks: a line for each setting and metric.
    pub lines: Vec<PlanLine>,
    /// Benchmarks that are not judged.
    pub missing: Vec<NotJudged>,
    /// Number of older versions that are not used.
    pub older: usize,
    /// The budget, in seconds.
    pub budget: Option<f64>,
    /// The options of the choices.
    pub options: PlanOptions,
    /// Exclusions.
    pub audit: Audit,
}

/// The choice for a benchmark.
pub struct PlanLine {
    /// The choice.
    pub choice: Choice,
    /// Its fate.
    pub fate: LineFate,
    /// Index of the first slowdown that is not too expensive for the budget.
    pub from: usize,
    /// Simulation of configurations entered in a review.
    pub simulation: Option<Simulation>,
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
    /// Changes the configuration, in a review.
    pub fn change(&mut self, configuration: Configuration) {
        if let Some(simulation) = &mut self.simulation {
            self.choice.change(configuration, simulation);
            self.fate = LineFate::Kept;
        }
    }

    /// Returns the configuration to run: for the smallest slowdown that is possible and fits into the budget.
    pub fn first(&self) -> Option<(f64, &Chosen)> {
        let (slowdown, found) = self.choice.found.get(self.first_at()?)?;
        Some((*slowdown, found.as_ref().ok()?))
    }

    /// Returns the index of that slowdown.
    pub fn first_at(&self) -> Option<usize> {
        let mut found = self.choice.found.iter().enumerate().skip(self.from);
        found.find(|it| it.1.1.is_ok()).map(|it| it.0)
    }

    /// Returns the first slowdown that is not detected as requested.
    pub fn unmet(&self) -> Option<(f64, &Unmet)> {
        let mut found = self.choice.found.iter();
        found.find_map(|(slowdown, found)| Some((*slowdown, found.as_ref().err()?.as_ref())))
    }

    /// Returns the cost of the run in seconds; `None` if no time is known.
    pub fn cost(&self) -> Option<f64> {
        self.cost_with(self.first()?.1)
    }

    /// Returns the cost of a configuration in seconds; `None` if no time is known.
    pub fn cost_with(&self, chosen: &Chosen) -> Option<f64> {
        Some(self.choice.costs?.of(chosen.configuration))
    }

    /// Returns whether the run detects this slowdown with the power.
    pub fn detects(&self, slowdown: f64, options: &PlanOptions) -> bool {
        let is_run = self.fate == LineFate::Kept;
        let run = self.first().map(|it| it.1.configuration);
        // A configuration that detects a slowdown also detects larger ones.
        let detects = self.choice.found.iter().any(|(found, chosen)| {
            let chosen = chosen.as_ref().ok();
            let of_run = chosen.filter(|it| Some(it.configuration) == run);
            let has_power = of_run.is_some_and(|it| options.has_power(it));
            *found <= slowdown && has_power
        });
        is_run && detects
    }
}

impl ChosenPlan {
    /// Returns the lines of each benchmark, by suite and id.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        for (at, line) in self.lines.iter().enumerate() {
            let key = (line.choice.suite.as_str(), line.choice.benchmark.as_str());
            groups.entry(key).or_default().push(at);
        }
        groups.into_values().collect()
    }

    /// Returns the number of benchmarks, judged or not.
    pub fn benchmarks(&self) -> usize {
        let choices = self.lines.iter().map(|it| &it.choice);
        let named = choices.map(|it| (it.suite.as_str(), it.benchmark.as_str()));
        let missing = self.missing.iter();
        let missing = missing.map(|it| (it.suite.as_str(), it.benchmark.as_str()));
        let all: std::collections::BTreeSet<_> = named.chain(missing).collect();
        all.len()
    }

    /// Returns the number of benchmarks that detect this slowdown in all of their lines.
    pub fn able(&self, slowdown: f64) -> usize {
        let detects = |at: &usize| self.lines[*at].detects(slowdown, &self.options);
        let groups = self.groups().into_iter();
        groups.filter(|group| group.iter().all(detects)).count()
    }

    /// Returns the lines that are run.
    pub fn kept(&self) -> impl Iterator<Item = &PlanLine> {
        self.of(LineFate::Kept)
    }

    /// Returns the lines with this fate.
    pub fn of(&self, fate: LineFate) -> impl Iterator<Item = &PlanLine> {
        self.lines.iter().filter(move |line| line.fate == fate)
    }

    /// Returns whether all lines were skipped.
    pub fn is_skipped(&self) -> bool {
        !self.lines.is_empty() && self.lines.iter().all(|line| line.fate == LineFate::Skipped)
    }

    /// Returns the benchmarks that have such a line, each once, in their order.
    pub fn names(&self, is_meant: impl Fn(&PlanLine) -> bool) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for line in self.lines.iter().filter(|line| is_meant(line)) {
            if !names.contains(&line.choice.benchmark.as_str()) {
                names.push(&line.choice.benchmark);
            }
        }
        names
    }
}
