//! Replayed histories: the nights of a history in other order, with or without a planted change.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_model::Better;
use lapwing_stats::{Seed, as_f64};

use super::super::finding::Finding;
use super::super::series::{FAILURES, Histories, HistorySeries, Moment, SeriesPoint};
use super::nights::ReplaySuite;
use super::residuals::Residuals;

/// Histories without their known changes, from which replays are drawn.
pub(super) struct ReplaySource {
    pub(super) suites: Vec<ReplaySuite>,
    pub(super) series: Vec<ReplaySeries>,
    /// The original moments.
    moments: Vec<Moment>,
}

/// A history without its known changes.
pub(super) struct ReplaySeries {
    /// The series without points.
    pub(super) template: HistorySeries,
    /// The index of its suite.
    pub(super) suite: usize,
    /// The first night of the suite in which it was tried.
    first: usize,
    /// By night of the suite.
    nights: Vec<SourceNight>,
    level: f64,
    is_ratio: bool,
}

/// A night of a series.
#[derive(Debug, Clone, Copy, Default)]
struct SourceNight {
    is_tried: bool,
    /// The distance from the level, and the number of instances.
    value: Option<(f64, usize)>,
}

/// A change for the worse in one series.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlantedChange {
    /// The index in [`ReplaySource::series`].
    pub(super) series: usize,
    pub(super) slowdown: f64,
    /// The first night at the new level, and the last one before it; of a step they follow each other.
    pub(super) nights: [usize; 2],
}

/// A replay: a history of as many nights as the original, and [`super::JUDGED_NIGHTS`] more.
pub(super) struct Replay {
    histories: Histories,
    /// By moment, its night less the number of nights of its suite.
    ages: Vec<i64>,
}

impl ReplaySource {
    /// Returns what some series are without the changes found in them.
    pub(super) fn of(histories: &Histories, findings: &[Finding], replayed: &[usize]) -> Self {
        let names: BTreeSet<&str> = replayed
            .iter()
            .map(|at| histories.series[*at].subject.suite.as_str())
            .collect();
        let mut suites: Vec<ReplaySuite> = names
            .iter()
            .map(|name| ReplaySuite::of(histories, name))
            .collect();
        let places: BTreeMap<&str, usize> = names.into_iter().zip(0..).collect();
        let series = replayed.iter().map(|at| {
            let series = &histories.series[*at];
            let suite = places[series.subject.suite.as_str()];
            let residuals = Residuals::of(*at, series, findings);
            ReplaySeries::of(series, suite, &suites[suite].moments, residuals)
        });
        let series: Vec<ReplaySeries> = series.collect();
        for (at, suite) in suites.iter_mut().enumerate() {
            let own: Vec<&ReplaySeries> = series.iter().filter(|it| it.suite == at).collect();
            suite.choose_block(&own);
        }
        Self {
            series,
            suites,
            moments: histories.moments.clone(),
        }
    }

    /// Draws a replay.
    pub(super) fn replay(&self, seed: Seed, change: Option<PlantedChange>) -> Replay {
        let drawn: Vec<Vec<usize>> = self.suites.iter().map(|suite| suite.draw(seed)).collect();
        let mut nights: Vec<(i64, usize, usize)> = Vec::new();
        for (at, suite) in self.suites.iter().enumerate() {
            let age = |night: usize| signed(night) - signed(suite.moments.len());
            nights.extend((0..drawn[at].len()).map(|night| (age(night), at, night)));
        }
        nights.sort_unstable();
        let mut moments = Vec::with_capacity(nights.len());
        let mut places: Vec<Vec<usize>> = vec![Vec::new(); self.suites.len()];
        for (place, (age, at, night)) in nights.iter().enumerate() {
            let suite = &self.suites[*at];
            places[*at].push(place);
            let source = &self.moments[suite.moments[drawn[*at][*night]]];
            moments.push(suite.moment(source, *age));
        }
        let series = self.series.iter().enumerate().map(|(at, series)| {
            let change = change.filter(|change| change.series == at);
            series.replayed(&drawn[series.suite], &places[series.suite], change)
        });
        Replay {
            histories: Histories {
                series: series.collect(),
                moments,
                ..Histories::default()
            },
            ages: nights.into_iter().map(|(age, ..)| age).collect(),
        }
    }
}

impl Replay {
    /// Returns fresh histories of one suite, so many of whose nights are before those that are judged.
    #[cfg(test)]
    pub(super) fn of(histories: Histories, nights: i64) -> Self {
        let ages = (0..histories.moments.len()).map(|night| signed(night) - nights);
        Self {
            ages: ages.collect(),
            histories,
        }
    }

    /// Returns the histories up to so many nights after the length of the original.
    pub(super) fn after(&self, nights: usize) -> Histories {
        let end = self.ages.partition_point(|age| *age < signed(nights));
        let series = self.histories.series.iter().map(|series| {
            let points = series.points.partition_point(|point| point.moment < end);
            let tried = series.tried.partition_point(|moment| *moment < end);
            HistorySeries {
                subject: series.subject.clone(),
                metric: series.metric.clone(),
                smallest_effect: series.smallest_effect,
                fail_on: None,
                recorded_ids: series.recorded_ids.clone(),
                points: series.points[..points].to_vec(),
                tried: series.tried[..tried].to_vec(),
            }
        });
        Histories {
            series: series.collect(),
            moments: self.histories.moments[..end].to_vec(),
            ..Histories::default()
        }
    }

    /// Returns the first moment of a night, counted from the length of the original.
    pub(super) fn moment(&self, night: i64) -> usize {
        self.ages.partition_point(|age| *age < night)
    }
}

impl ReplaySeries {
    fn of(series: &HistorySeries, suite: usize, moments: &[usize], residuals: Residuals) -> Self {
        let mut nights = vec![SourceNight::default(); moments.len()];
        let night_of = |moment: usize| moments.binary_search(&moment).ok();
        for night in series.tried.iter().filter_map(|it| night_of(*it)) {
            nights[night].is_tried = true;
        }
        for (point, residual) in series.points.iter().zip(&residuals.values) {
            if let Some(night) = night_of(point.moment) {
                nights[night].value = Some((*residual, point.instances));
            }
        }
        let first = nights.iter().position(|night| night.is_tried);
        Self {
            template: HistorySeries {
                subject: series.subject.clone(),
                metric: series.metric.clone(),
                smallest_effect: series.smallest_effect,
                fail_on: None,
                recorded_ids: series.recorded_ids.clone(),
                points: Vec::new(),
                tried: Vec::new(),
            },
            suite,
            first: first.unwrap_or(0),
            nights,
            level: residuals.level,
            is_ratio: series.is_ratio(),
        }
    }

    /// Returns the correlation of its nights with the night before; `None` if they do not vary.
    pub(super) fn autocorrelation(&self) -> Option<f64> {
        let values: Vec<f64> = self
            .nights
            .iter()
            .filter_map(|it| Some(it.value?.0))
            .collect();
        let squares: f64 = values.iter().map(|value| value * value).sum();
        let products: f64 = values.windows(2).map(|pair| pair[0] * pair[1]).sum();
        (squares > 0.0).then(|| products / squares)
    }

    /// Returns the number of nights with a value.
    pub(super) fn runs(&self) -> usize {
        self.nights.iter().filter(|it| it.value.is_some()).count()
    }

    /// Returns the number of nights of its suite.
    pub(super) fn nights(&self) -> usize {
        self.nights.len()
    }

    /// Returns the first night of its suite in which it was tried.
    pub(super) fn first(&self) -> usize {
        self.first
    }

    /// Returns whether a change by a factor can be planted.
    pub(super) fn can_change(&self) -> bool {
        self.is_ratio && self.template.subject.metric != FAILURES
    }

    /// Returns the series in a replay; it begins as late as the original.
    fn replayed(
        &self,
        drawn: &[usize],
        places: &[usize],
        change: Option<PlantedChange>,
    ) -> HistorySeries {
        let mut series = HistorySeries {
            points: Vec::with_capacity(drawn.len()),
            tried: Vec::with_capacity(drawn.len()),
            ..self.template.clone()
        };
        let measured = self.nights.len() - self.first;
        for night in self.first..drawn.len() {
            let source = drawn[night];
            // Before its first night there is nothing to draw.
            let source = if source < self.first {
                self.first + source % measured
            } else {
                source
            };
            let SourceNight { is_tried, value } = self.nights[source];
            if is_tried {
                series.tried.push(places[night]);
            }
            if let Some((residual, instances)) = value {
                let factor = change.map_or(1.0, |it| it.factor(night, self.template.metric.better));
                series.points.push(SeriesPoint {
                    moment: places[night],
                    value: self.value(residual) * factor,
                    instances,
                });
            }
        }
        series
    }

    fn value(&self, residual: f64) -> f64 {
        if self.is_ratio {
            (self.level + residual).exp()
        } else {
            self.level + residual
        }
    }
}

impl PlantedChange {
    /// Plants it in a fresh series that has a value in each night.
    #[cfg(test)]
    pub(super) fn plant(self, series: &mut HistorySeries) {
        for (night, point) in series.points.iter_mut().enumerate() {
            point.value *= self.factor(night, series.metric.better);
        }
    }

    /// Returns the factor of the values of a night.
    fn factor(self, night: usize, better: Option<Better>) -> f64 {
        let [first, last_before] = self.nights;
        let share = if night >= first {
            1.0
        } else if night <= last_before {
            0.0
        } else {
            as_f64(night - last_before) / as_f64(first - last_before)
        };
        let change = share * self.slowdown.ln();
        match better {
            Some(Better::Higher) => (-change).exp(),
            Some(Better::Lower) | None => change.exp(),
        }
    }
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
