//! The search for the cheapest configuration, near the one that the formula gives, confirmed by simulation.

use lapwing_stats::{Configuration, Seed};

use super::formula::{FEWEST_ITERATIONS, Guess};
use super::simulation::{MOST_SIMULATED_INSTANCES, Simulation};
use super::{Chosen, PlanNoise, PlanOptions, Unable, Unmet, configuration};
use crate::clean::Cleaned;
use crate::explain::RunCosts;

/// The most configurations to simulate for one slowdown of a benchmark.
const MOST_SIMULATED: usize = 20;

/// A verdict needs this many instances per side.
pub(super) const FEWEST_INSTANCES: usize = 3;

/// An error of the formula's power above which a simulation decides.
const FORMULA_MAY_BE_OFF: f64 = 0.05;

/// The most instances considered for a configuration beyond the limits.
pub const MOST_NEEDED: usize = 100_000;

/// The limits for a configuration beyond the user's limits.
pub(super) const UNLIMITED: Configuration = configuration(MOST_NEEDED, 1_000);

/// The assumed costs if no time is known.
const EQUAL_COSTS: RunCosts = RunCosts {
    start: 0.0,
    burn_in: 0.0,
    iteration: 1.0,
};

/// The search for the configurations of a benchmark.
pub(super) struct Search<'a> {
    pub(super) simulation: Simulation,
    pub(super) costs: RunCosts,
    pub(super) options: &'a PlanOptions,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        cleaned: &Cleaned,
        costs: Option<RunCosts>,
        options: &'a PlanOptions,
        seed: Seed,
    ) -> Self {
        Self {
            simulation: Simulation::new(cleaned, options, seed),
            costs: costs.unwrap_or(EQUAL_COSTS),
            options,
        }
    }

    /// Returns the cheapest sufficient configuration.
    pub(super) fn cheapest(
        &mut self,
        slowdown: f64,
        most: Configuration,
    ) -> Result<Chosen, Box<Unmet>> {
        let Some(noise) = self.simulation.noise() else {
            return Err(Box::new(Unmet {
                why: Unable::NoiseUnknown,
                closest: None,
                needed: None,
            }));
        };
        let mut hunt = Hunt::new(self, noise, slowdown, most);
        hunt.search();
        let (best, why) = (hunt.best, hunt.why);
        if let Some((_, chosen)) = best {
            return Ok(self.simulation.with_pilots_interval(chosen, slowdown));
        }
        let closest = self.options.closest_by_formula(noise, slowdown, most);
        let closest = closest.map(|it| {
            let simulated = self.simulation.rates(it.configuration, slowdown);
            self.simulation
                .with_pilots_interval(simulated.unwrap_or(it), slowdown)
        });
        let mut hunt = Hunt::new(self, noise, slowdown, UNLIMITED);
        hunt.search();
        Err(Box::new(Unmet {
            why,
            closest,
            needed: hunt.best.map(|it| it.1),
        }))
    }

    /// Returns whether the false-positive rate is not surely above the limit.
    fn has_few_false_positives(&self, it: &Chosen) -> bool {
        let most = self.options.false_positives;
        it.rates
            .is_some_and(|it| !it.has_too_many_false_positives(most))
    }
}

/// The search for one slowdown.
///
/// For each number of iterations, the fewest sufficient instances are found by doubling and bisection, in the order of
/// the costs by formula. Once a configuration is found, another number of iterations is only simulated if it could be
/// cheaper: if the formula gives nearly the power to its most expensive configuration below that cost. This saves most
/// simulations.
struct Hunt<'a, 'b> {
    search: &'a mut Search<'b>,
    noise: PlanNoise,
    slowdown: f64,
    most: Configuration,
    /// The cheapest so far, and its cost.
    best: Option<(f64, Chosen)>,
    /// The reason why no other configuration is sufficient.
    why: Unable,
    /// The number of configurations that may still be simulated.
    left: usize,
}

/// The result of the simulations of one number of iterations.
enum Simulated {
    /// The fewest sufficient instances.
    From(Chosen),
    /// Not even the most instances that can be simulated are sufficient.
    NotWith(Chosen),
    /// Unknown: too little data, or too many simulations.
    Unknown,
}

impl<'a, 'b> Hunt<'a, 'b> {
    fn new(
        search: &'a mut Search<'b>,
        noise: PlanNoise,
        slowdown: f64,
        most: Configuration,
    ) -> Self {
        Self {
            search,
            noise,
            slowdown,
            most,
            best: None,
            why: Unable::TooMany,
            left: MOST_SIMULATED,
        }
    }

    fn search(&mut self) {
        let limits = configuration(UNLIMITED.instances, self.most.iterations);
        let (noise, costs) = (self.noise, self.search.costs);
        let guesses = self
            .search
            .options
            .guesses(noise, costs, self.slowdown, limits);
        let guesses = guesses.unwrap_or_else(|why| {
            self.why = why;
            Vec::new()
        });
        guesses.iter().for_each(|guess| self.try_guess(*guess));
        if self.best.is_none() && self.try_closest() {
            // By now the error of the formula is known.
            guesses.iter().for_each(|guess| self.try_guess(*guess));
        }
        self.go_down();
    }

    /// Simulates the closest configuration by formula, and returns whether it is sufficient.
    fn try_closest(&mut self) -> bool {
        let options = self.search.options;
        let closest = options.closest_by_formula(self.noise, self.slowdown, self.most);
        let Some(iterations) = closest.map(|it| it.configuration.iterations) else {
            return false;
        };
        let top = MOST_SIMULATED_INSTANCES.min(self.most.instances);
        if top < FEWEST_INSTANCES {
            return false;
        }
        match self.fewest(iterations, top, top) {
            Simulated::From(chosen) => {
                self.take(chosen);
                true
            }
            Simulated::NotWith(_) | Simulated::Unknown => false,
        }
    }

    /// Simulates a number of iterations if it could be cheaper than the best so far.
    fn try_guess(&mut self, guess: Guess) {
        let Configuration {
            instances: guessed,
            iterations,
        } = guess.configuration;
        let top = MOST_SIMULATED_INSTANCES
            .min(self.most.instances)
            .min(self.affordable(iterations));
        let found = if self.is_plausible(top, iterations) {
            self.fewest(iterations, guessed.min(top), top)
        } else {
            Simulated::Unknown
        };
        let by_formula = match found {
            Simulated::From(chosen) => {
                self.take(chosen);
                return;
            }
            // A simulation that contradicts the formula needs more instances than it can draw.
            Simulated::NotWith(found) => guessed.max(found.configuration.instances + 1),
            Simulated::Unknown => guessed,
        };
        // Where a simulation is possible, the formula alone is not sufficient.
        if by_formula > MOST_SIMULATED_INSTANCES && by_formula <= self.most.instances {
            let configuration = configuration(by_formula, iterations);
            let options = self.search.options;
            if let Some(chosen) = options.by_formula(self.noise, configuration, self.slowdown) {
                self.take(chosen);
            }
        }
    }

    /// Keeps what is cheaper than what there was.
    fn take(&mut self, chosen: Chosen) {
        let cost = self.search.costs.of(chosen.configuration);
        if self.best.is_none_or(|(before, _)| cost < before) {
            self.best = Some((cost, chosen));
        }
    }

    /// Returns the most instances of so many iterations that cost less than what there is.
    fn affordable(&self, iterations: usize) -> usize {
        let Some((limit, _)) = self.best else {
            return usize::MAX;
        };
        let cost = |instances| self.search.costs.of(configuration(instances, iterations));
        let (mut yes, mut no) = (0, UNLIMITED.instances);
        while no - yes > 1 {
            let middle = yes.midpoint(no);
            if cost(middle) < limit {
                yes = middle
            } else {
                no = middle
            }
        }
        yes
    }

    /// Returns whether a simulation could find that this does, going by the formula.
    fn is_plausible(&self, instances: usize, iterations: usize) -> bool {
        if instances < FEWEST_INSTANCES {
            return false;
        }
        let power = |configuration| {
            let options = self.search.options;
            options
                .by_formula(self.noise, configuration, self.slowdown)
                .and_then(|it| it.power())
        };
        let wanted = self.search.options.power;
        // A simulation may have shown how far the formula is off.
        let of_best = self.best.and_then(|it| power(it.1.configuration));
        let least = of_best.map_or(wanted, |it| it.min(wanted)) - FORMULA_MAY_BE_OFF;
        power(configuration(instances, iterations)).is_none_or(|it| it >= least)
    }

    /// Returns the fewest instances from three to `top` that simulations confirm, beginning at `start`.
    fn fewest(&mut self, iterations: usize, start: usize, top: usize) -> Simulated {
        let (mut no, mut yes) = (FEWEST_INSTANCES - 1, None);
        let mut at = start.clamp(FEWEST_INSTANCES, top);
        let mut step = 1;
        while let Some(found) = self.simulated(configuration(at, iterations)) {
            if self.does(&found) {
                yes = Some(found);
                at = if no < FEWEST_INSTANCES {
                    // Nothing is too few yet.
                    at.saturating_sub(step).max(no + 1)
                } else {
                    no.midpoint(at)
                };
            } else {
                no = found.configuration.instances;
                if no == top {
                    return Simulated::NotWith(found);
                }
                at = match yes {
                    None => (at + step).min(top),
                    Some(yes) => no.midpoint(yes.configuration.instances),
                };
            }
            step *= 2;
            if yes.is_some_and(|it| it.configuration.instances == no + 1) {
                break;
            }
        }
        yes.map_or(Simulated::Unknown, Simulated::From)
    }

    /// Goes from what there is to fewer instances or iterations as long as those do as well.
    fn go_down(&mut self) {
        while let Some((_, best)) = self.best {
            let is_simulated = !best.is_by_formula();
            let Configuration {
                instances,
                iterations,
            } = best.configuration;
            let fewer = [(instances - 1, iterations), (instances, iterations - 1)];
            let fewer = fewer.into_iter().filter(|(instances, iterations)| {
                is_simulated && *instances >= FEWEST_INSTANCES && *iterations >= FEWEST_ITERATIONS
            });
            let found = fewer.into_iter().find_map(|(instances, iterations)| {
                let found = self.simulated(configuration(instances, iterations))?;
                self.does(&found).then_some(found)
            });
            match found {
                Some(found) => self.take(found),
                None => return,
            }
        }
    }

    /// Simulates a configuration, if that may still be done.
    fn simulated(&mut self, configuration: Configuration) -> Option<Chosen> {
        let simulation = &mut self.search.simulation;
        if !simulation.has(configuration) {
            self.left = self.left.checked_sub(1)?;
        }
        simulation.rates(configuration, self.slowdown)
    }

    fn does(&mut self, found: &Chosen) -> bool {
        let has_power = self.search.options.has_power(found);
        let is_quiet = self.search.has_few_false_positives(found);
        if has_power && !is_quiet {
            self.why = Unable::FalsePositives;
        }
        has_power && is_quiet
    }
}
