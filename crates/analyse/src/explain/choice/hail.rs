//! The choice of a configuration from the simulated grid, as by the author of Hail's benchmarks.

use lapwing_stats::Configuration;

use super::search::{Search, UNLIMITED};
use super::simulation::chosen;
use super::{Chosen, Unable, Unmet};
use crate::judge::DetectionCell;

impl Search<'_> {
    /// Chooses a configuration for each slowdown; without any, for the smallest detectable slowdown of the grid.
    pub(super) fn as_hail(&mut self) -> Vec<(f64, Result<Chosen, Box<Unmet>>)> {
        let grid = &self.options.detection.grid;
        let cells = self
            .simulation
            .of_measured(grid.instances.clone(), grid.iterations.clone());
        if !self.options.slowdowns.is_empty() {
            let wanted = self.options.slowdowns.iter();
            return wanted
                .map(|slowdown| (*slowdown, self.of_grid(&cells, *slowdown)))
                .collect();
        }
        let mut tried: Vec<(f64, Result<Chosen, Box<Unmet>>)> = Vec::new();
        for slowdown in grid.slowdowns.iter().filter(|it| **it > 1.0) {
            let found = self.of_grid(&cells, *slowdown);
            let is_found = found.is_ok();
            tried = vec![(*slowdown, found)];
            if is_found {
                break;
            }
        }
        tried
    }

    /// Returns the cheapest configuration with the power, among those from the first with few false positives on.
    fn of_grid(&self, cells: &[DetectionCell], slowdown: f64) -> Result<Chosen, Box<Unmet>> {
        let limit = self.options.false_positives;
        let is_quiet = |cell: &DetectionCell| cell.rate(1.0).is_some_and(|it| it.value <= limit);
        let first = cells.iter().find(|cell| is_quiet(cell));
        let first: Option<Configuration> = first.map(|it| it.configuration);
        let able = cells
            .iter()
            .filter(|cell| first.is_some_and(|first| cell.configuration >= first))
            .filter_map(|cell| chosen(cell, slowdown))
            .filter(|it| self.options.has_power(it));
        let cheapest = able.min_by(|one, other| {
            let cost = |it: &Chosen| self.costs.of(it.configuration);
            cost(one).total_cmp(&cost(other))
        });
        cheapest.ok_or_else(|| {
            Box::new(Unmet {
                why: match (cells, first) {
                    ([], _) => Unable::NotInGrid,
                    (_, None) => Unable::FalsePositives,
                    (_, Some(_)) => Unable::NotInGrid,
                },
                closest: closest(cells, first, slowdown),
                needed: self.simulation.noise().and_then(|noise| {
                    let by_formula = self
                        .options
                        .cheapest_by_formula(noise, self.costs, slowdown, UNLIMITED);
                    by_formula.ok()
                }),
            })
        })
    }
}

/// Returns the cell with the highest power from `first` on; among equal ones, the first.
fn closest(cells: &[DetectionCell], first: Option<Configuration>, slowdown: f64) -> Option<Chosen> {
    let cells = cells
        .iter()
        .filter(|cell| first.is_none_or(|first| cell.configuration >= first));
    let all = cells.filter_map(|cell| chosen(cell, slowdown));
    all.fold(None, |best: Option<Chosen>, it| match best {
        Some(best) if best.power() >= it.power() => Some(best),
        Some(_) | None => Some(it),
    })
}
