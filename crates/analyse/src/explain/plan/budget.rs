//! Costs and budget of a plan.

use super::{BudgetedPlan, LineFate};

/// Possible costs of a benchmark.
struct CostLadder {
    lines: Vec<usize>,
    /// Cost, and the index of the first slowdown of each line; from the smallest slowdown on.
    rungs: Vec<(f64, Vec<usize>)>,
}

impl CostLadder {
    fn cheapest(&self) -> f64 {
        let costs = self.rungs.iter().map(|(cost, _)| *cost);
        costs.fold(f64::INFINITY, f64::min)
    }

    fn of_smallest_slowdown(&self) -> f64 {
        self.rungs.first().map_or(f64::INFINITY, |(cost, _)| *cost)
    }
}

impl BudgetedPlan {
    /// Spends the budget on as many benchmarks as possible, the cheapest first. All lines of a benchmark share its fate
    /// and its entry.
    pub fn spend(&mut self) {
        let mut able: Vec<Vec<usize>> = Vec::new();
        for line in &mut self.lines {
            line.first_affordable = 0;
        }
        for mut group in self.groups() {
            group.retain(|at| self.lines[*at].fate != LineFate::Skipped);
            let is_able = |at: &usize| self.lines[*at].first().is_some();
            let (found, unable): (Vec<usize>, Vec<usize>) = group.into_iter().partition(is_able);
            self.decide(&unable, LineFate::Unable);
            if !found.is_empty() {
                able.push(found);
            }
        }
        // What fits with the cheapest slowdown of each has a place; what is left then buys smaller slowdowns.
        let mut left = self.budget.unwrap_or(f64::INFINITY);
        let mut fitting = Vec::new();
        let (known, unknown): (Vec<_>, Vec<_>) = able
            .into_iter()
            .partition(|lines| self.cost_together(lines).is_some());
        let mut ladders: Vec<CostLadder> =
            known.into_iter().map(|lines| self.ladder(lines)).collect();
        ladders.sort_by(|one, other| one.cheapest().total_cmp(&other.cheapest()));
        for ladder in ladders {
            if ladder.cheapest() <= left {
                left -= ladder.cheapest();
                fitting.push(ladder);
            } else {
                self.decide(&ladder.lines, LineFate::BeyondBudget);
            }
        }
        fitting.sort_by(|one, other| {
            one.of_smallest_slowdown()
                .total_cmp(&other.of_smallest_slowdown())
        });
        for ladder in fitting {
            let available = left + ladder.cheapest();
            let mut rungs = ladder.rungs.iter();
            if let Some((cost, indices)) = rungs.find(|(cost, _)| *cost <= available) {
                left = available - cost;
                for (at, first_affordable) in ladder.lines.iter().zip(indices) {
                    self.lines[*at].first_affordable = *first_affordable;
                }
            }
            self.decide(&ladder.lines, LineFate::Kept);
        }
        let fate = match self.budget {
            None => LineFate::Kept,
            Some(_) => LineFate::CostUnknown,
        };
        for lines in unknown {
            self.decide(&lines, fate);
        }
    }

    fn decide(&mut self, lines: &[usize], fate: LineFate) {
        for at in lines {
            self.lines[*at].fate = fate;
        }
    }

    /// Returns the possible costs of these lines of a benchmark, from the smallest slowdown on.
    fn ladder(&mut self, lines: Vec<usize>) -> CostLadder {
        let mut rungs = Vec::new();
        loop {
            let cost = self.cost_together(&lines).unwrap_or(f64::INFINITY);
            let indices = lines.iter().map(|at| self.lines[*at].first_affordable);
            rungs.push((cost, indices.collect()));
            if !self.take_larger_slowdown(&lines) {
                break;
            }
        }
        for at in &lines {
            self.lines[*at].first_affordable = 0;
        }
        CostLadder { lines, rungs }
    }

    /// Plans for the next larger slowdown in the most expensive of these lines; `false` if there is none.
    fn take_larger_slowdown(&mut self, lines: &[usize]) -> bool {
        let cost = |at: &usize| self.lines[*at].cost().unwrap_or(0.0);
        let dearest = lines
            .iter()
            .max_by(|one, other| cost(one).total_cmp(&cost(other)));
        let Some(&dearest) = dearest else {
            return false;
        };
        let line = &mut self.lines[dearest];
        let next = line.first_index().map_or(0, |index| index + 1);
        let mut larger = next..line.choice.found.len();
        let Some(next) = larger.find(|index| line.choice.found[*index].1.is_ok()) else {
            return false;
        };
        line.first_affordable = next;
        true
    }

    /// Returns the cost in seconds of the benchmarks with this fate, as far as known: the most expensive line of each.
    pub fn cost_of(&self, fate: LineFate) -> f64 {
        let groups = self.groups().into_iter();
        let costs = groups.filter_map(|group| {
            let lines = group.into_iter().map(|at| &self.lines[at]);
            let lines = lines.filter(|line| line.fate == fate);
            let costs = lines.filter_map(|line| line.cost());
            costs.max_by(f64::total_cmp)
        });
        // An empty sum is below zero by a sign.
        costs.sum::<f64>() + 0.0
    }

    /// Returns the cost of an entry for all of these lines; `None` if one is unknown.
    fn cost_together(&self, lines: &[usize]) -> Option<f64> {
        let costs: Option<Vec<f64>> = lines.iter().map(|at| self.lines[*at].cost()).collect();
        costs?.into_iter().max_by(f64::total_cmp)
    }
}
