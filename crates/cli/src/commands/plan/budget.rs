//! What a plan costs, and how far a budget reaches.

use lapwing_core::explain::{Choice, Chosen, Unable};
use lapwing_core::suite::parse_duration;

/// What may be spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// Seconds of a machine.
    Seconds(f64),
    /// Money.
    Money(f64),
}

/// Returns a budget written as `20h` or `50`.
pub fn parse_budget(text: &str) -> Result<Budget, String> {
    let refused = || "write machine time such as 20h, or a sum of money".to_owned();
    let budget = match text.trim().parse::<f64>() {
        Ok(money) => Budget::Money(money),
        Err(_) => Budget::Seconds(
            parse_duration(text)
                .map_err(|_reason| refused())?
                .as_secs_f64(),
        ),
    };
    let (Budget::Seconds(amount) | Budget::Money(amount)) = budget;
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

/// What was chosen for every benchmark, and what becomes of it.
pub struct Plan {
    /// The benchmarks.
    pub lines: Vec<Line>,
    /// What may be spent, in seconds.
    pub budget: Option<f64>,
}

/// What was chosen for a benchmark.
pub struct Line {
    /// The choice.
    pub choice: Choice,
    /// What becomes of it.
    pub fate: Fate,
}

/// What becomes of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is run.
    Kept,
    /// The budget does not reach it.
    BeyondBudget,
    /// Nothing detects the slowdown.
    Unable,
    /// Somebody left it out.
    Skipped,
}

impl Line {
    /// Returns what is run: what detects the smallest of the slowdowns that can be.
    pub fn first(&self) -> Option<(f64, &Chosen)> {
        let mut found = self.choice.found.iter();
        found.find_map(|(slowdown, found)| Some((*slowdown, found.as_ref().ok()?)))
    }

    /// Returns why nothing is.
    pub fn unable(&self) -> Option<(f64, Unable)> {
        let mut found = self.choice.found.iter();
        found.find_map(|(slowdown, found)| Some((*slowdown, found.err()?)))
    }

    /// Returns the seconds that it takes; `None` where no time is known.
    pub fn cost(&self) -> Option<f64> {
        let (_, chosen) = self.first()?;
        Some(self.choice.costs?.of(chosen.configuration))
    }
}

impl Plan {
    /// Returns the plan that runs as many benchmarks as the budget reaches: the cheapest first.
    pub fn new(choices: Vec<Choice>, budget: Option<f64>) -> Self {
        let lines = choices.into_iter().map(|choice| Line {
            choice,
            fate: Fate::Kept,
        });
        let mut plan = Self {
            lines: lines.collect(),
            budget,
        };
        plan.spend();
        plan
    }

    /// Decides anew what the budget reaches.
    pub fn spend(&mut self) {
        let mut left = self.budget.unwrap_or(f64::INFINITY);
        let mut order: Vec<usize> = (0..self.lines.len()).collect();
        let cost = |line: &Line| line.cost().unwrap_or(0.0);
        order.sort_by(|one, other| cost(&self.lines[*one]).total_cmp(&cost(&self.lines[*other])));
        for at in order {
            let line = &mut self.lines[at];
            if line.fate == Fate::Skipped {
                continue;
            }
            let cost = line.cost().unwrap_or(0.0);
            line.fate = match line.first() {
                None => Fate::Unable,
                Some(_) if cost > left => Fate::BeyondBudget,
                Some(_) => Fate::Kept,
            };
            if line.fate == Fate::Kept {
                left -= cost;
            }
        }
    }

    /// Returns the benchmarks that are run.
    pub fn kept(&self) -> impl Iterator<Item = &Line> {
        self.of(Fate::Kept)
    }

    /// Returns the benchmarks of which this becomes.
    pub fn of(&self, fate: Fate) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(move |line| line.fate == fate)
    }

    /// Returns the seconds that those take.
    pub fn cost_of(&self, fate: Fate) -> f64 {
        // An empty sum is below zero by a sign.
        self.of(fate).filter_map(Line::cost).sum::<f64>() + 0.0
    }
}
