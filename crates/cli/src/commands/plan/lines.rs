//! What was chosen for every benchmark, and what becomes of it.

use std::collections::BTreeMap;

use lapwing_core::explain::{Choice, Chosen, Simulation, Unmet};
use lapwing_stats::Configuration;

use crate::not_judged::NotJudged;

/// What was chosen for every benchmark, and what becomes of it.
pub struct ChosenPlan {
    /// The benchmarks: a line for each setting and metric.
    pub lines: Vec<PlanLine>,
    /// Those of which nothing can be said.
    pub missing: Vec<NotJudged>,
    /// How many versions were passed over because there are later ones.
    pub older: usize,
    /// What may be spent, in seconds.
    pub budget: Option<f64>,
    /// The power that is wanted.
    pub power: f64,
}

/// What was chosen for a benchmark.
pub struct PlanLine {
    /// The choice.
    pub choice: Choice,
    /// What becomes of it.
    pub fate: LineFate,
    /// The slowdowns before this one, by their place, are too dear for the budget.
    pub from: usize,
    /// What a configuration that somebody types is simulated with, where they may.
    pub simulation: Option<Simulation>,
}

/// What becomes of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineFate {
    /// It is run.
    Kept,
    /// The budget does not reach it.
    BeyondBudget,
    /// There is a budget, and nobody knows what it takes.
    CostUnknown,
    /// Nothing detects the slowdown.
    Unable,
    /// Somebody left it out.
    Skipped,
}

impl PlanLine {
    /// Takes another configuration, where people may.
    pub fn change(&mut self, configuration: Configuration) {
        if let Some(simulation) = &mut self.simulation {
            self.choice.change(configuration, simulation);
            self.fate = LineFate::Kept;
        }
    }

    /// Returns what is run: what detects the smallest of the slowdowns that can be and that the budget reaches.
    pub fn first(&self) -> Option<(f64, &Chosen)> {
        let (slowdown, found) = self.choice.found.get(self.first_at()?)?;
        Some((*slowdown, found.as_ref().ok()?))
    }

    /// Returns the place of that slowdown.
    pub fn first_at(&self) -> Option<usize> {
        let mut found = self.choice.found.iter().enumerate().skip(self.from);
        found.find(|it| it.1.1.is_ok()).map(|it| it.0)
    }

    /// Returns the first slowdown that nothing detects as wanted.
    pub fn unmet(&self) -> Option<(f64, &Unmet)> {
        let mut found = self.choice.found.iter();
        found.find_map(|(slowdown, found)| Some((*slowdown, found.as_ref().err()?.as_ref())))
    }

    /// Returns the seconds that what is run takes; `None` where no time is known.
    pub fn cost(&self) -> Option<f64> {
        self.cost_with(self.first()?.1)
    }

    /// Returns the seconds that a configuration takes; `None` where no time is known.
    pub fn cost_with(&self, chosen: &Chosen) -> Option<f64> {
        Some(self.choice.costs?.of(chosen.configuration))
    }

    /// Returns whether what is run detects this slowdown with the power.
    pub fn detects(&self, slowdown: f64, power: f64) -> bool {
        let is_run = self.fate == LineFate::Kept;
        let run = self.first().map(|it| it.1.configuration);
        // What detects a slowdown detects larger ones too.
        let detects = self.choice.found.iter().any(|(found, chosen)| {
            let chosen = chosen.as_ref().ok();
            let of_run = chosen.filter(|it| Some(it.configuration) == run);
            let has_power = of_run.and_then(Chosen::power).is_some_and(|it| it >= power);
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

    /// Returns how many benchmarks there are, with those of which nothing can be said.
    pub fn benchmarks(&self) -> usize {
        let choices = self.lines.iter().map(|it| &it.choice);
        let named = choices.map(|it| (it.suite.as_str(), it.benchmark.as_str()));
        let missing = self.missing.iter();
        let missing = missing.map(|it| (it.suite.as_str(), it.benchmark.as_str()));
        let all: std::collections::BTreeSet<_> = named.chain(missing).collect();
        all.len()
    }

    /// Returns how many benchmarks detect this slowdown in all of their lines.
    pub fn able(&self, slowdown: f64) -> usize {
        let detects = |at: &usize| self.lines[*at].detects(slowdown, self.power);
        let groups = self.groups().into_iter();
        groups.filter(|group| group.iter().all(detects)).count()
    }

    /// Returns the lines that are run.
    pub fn kept(&self) -> impl Iterator<Item = &PlanLine> {
        self.of(LineFate::Kept)
    }

    /// Returns the lines of which this becomes.
    pub fn of(&self, fate: LineFate) -> impl Iterator<Item = &PlanLine> {
        self.lines.iter().filter(move |line| line.fate == fate)
    }

    /// Returns whether somebody left out all that there is.
    pub fn is_skipped(&self) -> bool {
        !self.lines.is_empty() && self.lines.iter().all(|line| line.fate == LineFate::Skipped)
    }

    /// Returns the benchmarks whose lines are like this, each once, in their order.
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
