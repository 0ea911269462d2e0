//! A Bayesian model of the response over all settings.

use super::interactions::{InteractionOrder, InteractionScales, LevelCovariance};
use super::ordered::MeasuredRun;
use crate::as_f64;
use crate::cholesky::{CholeskyFactor, SquareMatrix, dot};
use crate::design::DesignFactor;

/// Scales are searched for with at most so many settings.
const MOST_FITTED: usize = 160;

/// Steps of the search for the most likely scales.
const STEPS: usize = 30;

/// What the model expects of a setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePrediction {
    /// The mean of the posterior.
    pub mean: f64,
    /// Its standard deviation, without the noise of a run.
    pub deviation: f64,
}

/// A posterior of the expected response over all settings, from noisy runs.
///
/// A mixture of Gaussian processes that differ in how many levels may act together: two, three, or any number. Each
/// factor has a variance of its own, so that the many that do nothing do not disturb the few that do; an interaction
/// of factors has the product of their variances, times a common factor for its order. All variances are the most
/// likely ones under weak priors. The processes are weighted by the likelihood of what was measured.
///
/// Responses should be roughly additive: logarithms of times.
///
/// Source: Rasmussen & Williams, *Gaussian Processes for Machine Learning* 2006, ch. 2 and 5; Duvenaud, Nickisch &
/// Rasmussen, *NIPS* 2011.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseSurface {
    levels: Vec<LevelCovariance>,
    data: SettingMeans,
    /// The processes with their weights.
    processes: Vec<(f64, SurfaceProcess)>,
}

/// The measured settings with their mean responses, in units in which the responses have a variance of 1.
#[derive(Debug, Clone, PartialEq)]
struct SettingMeans {
    settings: Vec<Vec<usize>>,
    counts: Vec<f64>,
    means: Vec<f64>,
    /// Σ (y − mean)² within settings, and its degrees of freedom.
    within: (f64, f64),
    centre: f64,
    unit: f64,
}

#[derive(Debug, Clone, PartialEq)]
struct SurfaceProcess {
    scales: InteractionScales,
    factor: CholeskyFactor,
    weights: Vec<f64>,
}

impl SettingMeans {
    fn new(levels: &[LevelCovariance], runs: &[MeasuredRun]) -> Option<Self> {
        let exists = |run: &[usize]| {
            run.len() == levels.len() && run.iter().zip(levels).all(|(own, it)| *own < it.levels())
        };
        let mut all = runs.iter();
        if runs.len() < 2 || !all.all(|(run, response)| exists(run) && response.is_finite()) {
            return None;
        }
        let centre = runs.iter().map(|(_, response)| response).sum::<f64>() / as_f64(runs.len());
        let square = |(_, response): &MeasuredRun| (response - centre).powi(2);
        let unit = (runs.iter().map(square).sum::<f64>() / as_f64(runs.len())).sqrt();
        if unit <= 0.0 {
            return None;
        }
        let mut settings: Vec<Vec<usize>> = runs.iter().map(|(run, _)| run.clone()).collect();
        settings.sort_unstable();
        settings.dedup();
        let (mut counts, mut means) = (vec![0.0; settings.len()], vec![0.0; settings.len()]);
        let place = |run: &Vec<usize>| settings.binary_search(run).unwrap_or_default();
        for (run, response) in runs {
            counts[place(run)] += 1.0;
            means[place(run)] += (response - centre) / unit;
        }
        for (mean, count) in means.iter_mut().zip(&counts) {
            *mean /= count;
        }
        let within = runs
            .iter()
            .map(|(run, response)| ((response - centre) / unit - means[place(run)]).powi(2));
        Some(Self {
            within: (within.sum(), as_f64(runs.len() - settings.len())),
            settings,
            counts,
            means,
            centre,
            unit,
        })
    }

    /// Returns every so many-th setting, such that there are at most `most`.
    fn thinned(&self, most: usize) -> Self {
        let step = self.settings.len().div_ceil(most).max(1);
        Self {
            settings: self.settings.iter().step_by(step).cloned().collect(),
            counts: self.counts.iter().step_by(step).copied().collect(),
            means: self.means.iter().step_by(step).copied().collect(),
            ..*self
        }
    }

    /// Returns the factor of the covariance of the means, and its solution for them.
    fn solved(
        &self,
        scales: &InteractionScales,
        covariance: impl Fn(usize, usize) -> f64,
    ) -> Option<(CholeskyFactor, Vec<f64>)> {
        let mut matrix = SquareMatrix::symmetric(self.settings.len(), covariance);
        for (at, count) in self.counts.iter().enumerate() {
            matrix.set(at, at, matrix.at(at, at) + scales.noise() / count + 1e-6);
        }
        let factor = CholeskyFactor::definite(&matrix)?;
        let mut weights = self.means.clone();
        factor.solve(&mut weights);
        Some((factor, weights))
    }
}

/// The search for the most likely scales of a process.
struct SurfaceSearch<'a> {
    data: &'a SettingMeans,
    /// The covariances of levels, of each factor, of each pair of settings (the later one first).
    alike: Vec<f64>,
}

impl<'a> SurfaceSearch<'a> {
    fn new(levels: &[LevelCovariance], data: &'a SettingMeans) -> Self {
        let mut alike = Vec::new();
        for (at, one) in data.settings.iter().enumerate() {
            for other in &data.settings[..=at] {
                alike.extend(
                    (one.iter().zip(other).zip(levels)).map(|((a, b), own)| own.at(*a, *b)),
                );
            }
        }
        Self { data, alike }
    }

    fn alike(&self, row: usize, column: usize) -> &[f64] {
        let factors = self.data.settings[0].len();
        let start = (row * (row + 1) / 2 + column) * factors;
        &self.alike[start..start + factors]
    }

    /// Returns the logarithm of likelihood and prior, and its derivatives by the logarithms of the scales.
    fn evidence(&self, scales: &InteractionScales) -> Option<(f64, Vec<f64>)> {
        let data = self.data;
        let (factor, weights) = data.solved(scales, |row, column| {
            scales.covariance(self.alike(row, column).iter().copied())
        })?;
        let inverse = factor.inverse();
        let (within, freedom) = data.within;
        let noise = scales.noise();
        let fit = dot(&data.means, &weights) + within / noise;
        let mut evidence = -0.5 * (fit + factor.log_determinant() + freedom * noise.ln());
        let mut slopes = vec![0.0; scales.logarithms.len()];
        let mut of_noise = 0.5 * (within / noise - freedom);
        for row in 0..weights.len() {
            for column in 0..=row {
                let own = weights[row] * weights[column] - inverse.at(row, column);
                let share = if row == column { 0.5 } else { 1.0 };
                scales.add_derivatives(self.alike(row, column), share * own, &mut slopes);
                if row == column {
                    of_noise += 0.5 * own * noise / data.counts[row];
                }
            }
        }
        if let Some(last) = slopes.last_mut() {
            *last = of_noise;
        }
        let factors = data.settings[0].len();
        let centres = InteractionScales::centres(scales.order, factors);
        for ((slope, own), (centre, width)) in
            slopes.iter_mut().zip(&scales.logarithms).zip(centres)
        {
            let away = (own - centre) / width;
            evidence -= 0.5 * away * away;
            *slope -= away / width;
        }
        Some((evidence, slopes))
    }

    /// Returns the most likely scales, with the logarithm of their likelihood and prior.
    ///
    /// By resilient propagation: every logarithm has a step of its own that grows as long as its slope keeps its sign
    /// (Riedmiller & Braun 1993).
    fn most_likely(&self, order: InteractionOrder) -> Option<(f64, InteractionScales)> {
        let mut scales = InteractionScales::usual(order, self.data.settings[0].len());
        let mut best: Option<(f64, InteractionScales)> = None;
        let mut steps = vec![0.4; scales.logarithms.len()];
        let mut before = vec![0.0; steps.len()];
        for _ in 0..STEPS {
            let Some((evidence, mut slopes)) = self.evidence(&scales) else {
                break;
            };
            if best.as_ref().is_none_or(|(most, _)| evidence > *most) {
                best = Some((evidence, scales.clone()));
            }
            let mut next = scales.logarithms.clone();
            for (at, slope) in slopes.iter_mut().enumerate() {
                let turn = *slope * before[at];
                if turn > 0.0 {
                    steps[at] = f64::min(steps[at] * 1.2, 1.0);
                } else if turn < 0.0 {
                    steps[at] *= 0.5;
                    *slope = 0.0;
                }
                if *slope != 0.0 {
                    next[at] = (next[at] + steps[at] * slope.signum()).clamp(-14.0, 6.0);
                }
            }
            before = slopes;
            scales = InteractionScales::of(order, next);
        }
        best
    }
}

impl ResponseSurface {
    /// Returns the posterior after some runs with their responses; `None` with fewer than two, with levels that do
    /// not exist, or if a response is not finite or all are equal.
    pub fn new(factors: &[DesignFactor], runs: &[MeasuredRun]) -> Option<Self> {
        let levels: Vec<LevelCovariance> = factors.iter().map(LevelCovariance::new).collect();
        let data = SettingMeans::new(&levels, runs)?;
        let thinned = data.thinned(MOST_FITTED);
        let search = SurfaceSearch::new(&levels, &thinned);
        let orders = [
            InteractionOrder::Pairs,
            InteractionOrder::Triples,
            InteractionOrder::All,
        ];
        let fitted: Vec<(f64, InteractionScales)> = (orders.into_iter())
            .filter_map(|order| search.most_likely(order))
            .collect();
        let most = fitted
            .iter()
            .map(|own| own.0)
            .fold(f64::NEG_INFINITY, f64::max);
        // Likelihoods at the most likely scales alone are too sure of themselves.
        let scales = fitted
            .into_iter()
            .map(|(evidence, scales)| ((0.5 * (evidence - most)).exp(), scales));
        Self::of_scales(levels, data, scales.collect())
    }

    fn of_scales(
        levels: Vec<LevelCovariance>,
        data: SettingMeans,
        scales: Vec<(f64, InteractionScales)>,
    ) -> Option<Self> {
        let process = |(weight, scales): (f64, InteractionScales)| {
            let settings = &data.settings;
            let (factor, weights) = data.solved(&scales, |one, other| {
                covariance(&levels, &scales, &settings[one], &settings[other])
            })?;
            let own = SurfaceProcess {
                scales,
                factor,
                weights,
            };
            Some((weight, own))
        };
        let mut processes: Vec<(f64, SurfaceProcess)> =
            scales.into_iter().filter_map(process).collect();
        let total: f64 = processes.iter().map(|own| own.0).sum();
        for own in &mut processes {
            own.0 /= total;
        }
        (!processes.is_empty()).then_some(Self {
            levels,
            data,
            processes,
        })
    }

    /// Returns the posterior as if a setting had been measured and was as expected; scales stay.
    #[must_use]
    pub(super) fn after(self, run: &[usize]) -> Self {
        let expected = (self.predict(run).mean - self.data.centre) / self.data.unit;
        let mut data = self.data.clone();
        match data.settings.iter().position(|own| own == run) {
            Some(at) => {
                data.means[at] =
                    (data.means[at] * data.counts[at] + expected) / (data.counts[at] + 1.0);
                data.counts[at] += 1.0;
            }
            None => {
                data.settings.push(run.to_vec());
                data.counts.push(1.0);
                data.means.push(expected);
            }
        }
        let scales = self.processes.iter();
        let scales = scales.map(|(weight, own)| (*weight, own.scales.clone()));
        Self::of_scales(self.levels.clone(), data, scales.collect()).unwrap_or(self)
    }

    /// Returns what is expected of a setting.
    pub fn predict(&self, run: &[usize]) -> SurfacePrediction {
        let (mut mean, mut square) = (0.0, 0.0);
        for (weight, process) in &self.processes {
            let scales = &process.scales;
            let settings = self.data.settings.iter();
            let mut cross: Vec<f64> = settings
                .map(|own| covariance(&self.levels, scales, own, run))
                .collect();
            let own = dot(&cross, &process.weights);
            process.factor.solve_lower(&mut cross);
            let variance = covariance(&self.levels, scales, run, run) - dot(&cross, &cross);
            mean += weight * own;
            square += weight * (variance.max(0.0) + own * own);
        }
        SurfacePrediction {
            mean: self.data.centre + self.data.unit * mean,
            deviation: self.data.unit * (square - mean * mean).max(0.0).sqrt(),
        }
    }
}

fn covariance(
    levels: &[LevelCovariance],
    scales: &InteractionScales,
    one: &[usize],
    other: &[usize],
) -> f64 {
    scales.covariance((one.iter().zip(other).zip(levels)).map(|((a, b), own)| own.at(*a, *b)))
}
