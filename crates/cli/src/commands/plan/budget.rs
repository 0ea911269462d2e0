//! Cost and budget of a plan.

use lapwing_measure::suite::parse_duration;

use super::lines::{ChosenPlan, LineFate};

/// A budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlanBudget {
    /// Seconds of machine time.
    Seconds(f64),
    /// Money.
    Money(f64),
}

/// Returns a budget written as `20h` or `50`.
pub fn parse_budget(text: &str) -> Result<PlanBudget, String> {
    let refused = || "write machine time such as 20h, or a sum of money".to_owned();
    let budget = match text.trim().parse::<f64>() {
        Ok(money) => PlanBudget::Money(money),
        Err(_) => PlanBudget::Seconds(
            parse_duration(text)
                .map_err(|_reason| refused())?
                .as_secs_f64(),
        ),
    };
    let (PlanBudget::Seconds(amount) | PlanBudget::Money(amount)) = budget;
    (amount.is_finite() && amount > 0.0)
        .then_some(budget)
        .ok_or_else(refused)
}

/// Returns a price above zero.
pub fn parse_price(text: &str) -> Result<f64, String> {
    let price = text.trim().parse::<f64>().ok();
    price
        .filter(|it| it.is_finite() && *it > 0.0)
        .ok_or_else(|| "write a sum of money above 0".to_owned())
}

/// What a benchmark may cost.
struct CostLadder {
    lines: Vec<usize>,
    /// Cost, and the index of the first slowdown of each line; from the smallest slowdown on.
    rungs: Vec<(f64, Vec<usize>)>,
}

impl CostLadder {
    fn cheapest(&self) -> f64 {
        let costs = self.rungs.iter().map(|it| it.0);
        costs.fold(f64::INFINITY, f64::min)
    }

    fn of_smallest_slowdown(&self) -> f64 {
        self.rungs.first().map_or(f64::INFINITY, |it| it.0)
    }
}

impl ChosenPlan {
    /// Spends the budget on as many benchmarks as possible, the cheapest first. All lines of a benchmark share its fate
    /// and its entry.
    pub fn spend(&mut self) {
        let mut able: Vec<Vec<usize>> = Vec::new();
        self.lines.iter_mut().for_each(|line| line.from = 0);
        for group in self.groups() {
            let (found, unable): (Vec<usize>, Vec<usize>) = group
                .into_iter()
                .filter(|at| self.lines[*at].fate != LineFate::Skipped)
                .partition(|at| self.lines[*at].first().is_some());
            unable
                .into_iter()
                .for_each(|at| self.lines[at].fate = LineFate::Unable);
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
        let mut ladders: Vec<CostLadder> = known.into_iter().map(|it| self.ladder(it)).collect();
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
            let own = left + ladder.cheapest();
            let mut rungs = ladder.rungs.iter();
            if let Some((cost, from)) = rungs.find(|it| it.0 <= own) {
                left = own - cost;
                for (at, from) in ladder.lines.iter().zip(from) {
                    self.lines[*at].from = *from;
                }
            }
            self.decide(&ladder.lines, LineFate::Kept);
        }
        let fate = match self.budget {
            None => LineFate::Kept,
            Some(_) => LineFate::CostUnknown,
        };
        unknown.iter().for_each(|lines| self.decide(lines, fate));
    }

    fn decide(&mut self, lines: &[usize], fate: LineFate) {
        lines.iter().for_each(|at| self.lines[*at].fate = fate);
    }

    /// Returns what these lines of a benchmark may cost, from the smallest slowdown on.
    fn ladder(&mut self, lines: Vec<usize>) -> CostLadder {
        let mut rungs = Vec::new();
        loop {
            let cost = self.cost_together(&lines).unwrap_or(f64::INFINITY);
            rungs.push((cost, lines.iter().map(|at| self.lines[*at].from).collect()));
            if !self.make_do(&lines) {
                break;
            }
        }
        lines.iter().for_each(|at| self.lines[*at].from = 0);
        CostLadder { lines, rungs }
    }

    /// Plans for the next larger slowdown in the most expensive of these lines; `false` if there is none.
    fn make_do(&mut self, lines: &[usize]) -> bool {
        let cost = |at: &usize| self.lines[*at].cost().unwrap_or(0.0);
        let dearest = lines
            .iter()
            .max_by(|one, other| cost(one).total_cmp(&cost(other)));
        let Some(line) = dearest.copied() else {
            return false;
        };
        let line = &mut self.lines[line];
        let found = line.choice.found.iter().enumerate();
        let next = found
            .skip(line.first_at().map_or(0, |at| at + 1))
            .find(|it| it.1.1.is_ok());
        match next.map(|it| it.0) {
            Some(next) => {
                line.from = next;
                true
            }
            None => false,
        }
    }

    /// Returns the cost in seconds of the benchmarks with this fate, as far as known: the most expensive line of each.
    pub fn cost_of(&self, fate: LineFate) -> f64 {
        let groups = self.groups().into_iter();
        let costs = groups.filter_map(|group| {
            let of = group.into_iter().filter(|at| self.lines[*at].fate == fate);
            let costs = of.filter_map(|at| self.lines[at].cost());
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
