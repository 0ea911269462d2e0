//! How the value depends on the level of a numeric factor, by the model that explains the study.

use lapwing_stats::{Confidence, Interval};

use crate::explained::ExplainedStudy;

/// The expected values along a numeric factor of three levels or more.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseCurve {
    /// The number of the factor.
    pub factor: usize,
    /// Its levels from the lowest number to the highest; none where the factor has no effect in the model.
    pub points: Vec<CurvePoint>,
}

/// The expected value at a level of a factor.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoint {
    /// The number of the level.
    pub level: usize,
    /// The level itself.
    pub number: f64,
    /// The value on the scale of the model, averaged over all combinations of the other factors.
    pub value: f64,
    /// The 95 % confidence interval of that mean.
    pub interval: Option<Interval>,
    /// The number of measured instances with this level.
    pub instances: usize,
}

impl ResponseCurve {
    /// Returns the curve of each numeric factor with three levels or more, in the order of the factors.
    pub fn all(study: &ExplainedStudy<'_>) -> Vec<Self> {
        let data = study.data;
        let factors = data.factors.iter().enumerate();
        factors
            .filter_map(|(factor, own)| {
                let numbers = own.numbers()?;
                let mut points = Vec::new();
                if study.model.has_main(factor) {
                    points.extend(
                        (numbers.iter().enumerate())
                            .filter_map(|(level, number)| point(study, factor, level, *number)),
                    );
                }
                points.sort_by(|one, other| one.number.total_cmp(&other.number));
                Some(Self { factor, points })
            })
            .collect()
    }

    /// Returns the points with the lowest and with the highest value; `None` without an effect.
    pub fn ends(&self) -> Option<[&CurvePoint; 2]> {
        let order = |one: &&CurvePoint, other: &&CurvePoint| one.value.total_cmp(&other.value);
        let points = || self.points.iter();
        Some([points().min_by(order)?, points().max_by(order)?])
    }
}

fn point(
    study: &ExplainedStudy<'_>,
    factor: usize,
    level: usize,
    number: f64,
) -> Option<CurvePoint> {
    let data = study.data;
    let row = study.model.row(data, &[(factor, level)]);
    let mean = study.model.contrast(&row)?;
    let instances = data.instances.iter();
    Some(CurvePoint {
        level,
        number,
        value: mean.estimate,
        interval: mean.interval(study.model.freedom(), Confidence::P95),
        instances: instances.filter(|own| own.levels[factor] == level).count(),
    })
}

#[cfg(test)]
mod tests {
    use lapwing_model::{Level, Metric};
    use lapwing_stats::{Seed, as_f64};

    use super::*;
    use crate::data::{StudyData, StudyInstance};
    use crate::factor::{StudyFactor, Treatment};
    use crate::scale::{StudyMetric, StudyScale};
    use crate::simulation::normal;

    const WORKERS: [i64; 5] = [4, 1, 2, 8, 16];

    /// Three instances of every combination of workers, of a delay that changes nothing, and of a treatment.
    fn study(cost: impl Fn(f64, bool) -> f64, noise: f64, seed: Seed) -> StudyData {
        let mut instances = Vec::new();
        for run in 0..5 * 3 * 2 * 3_usize {
            let levels = vec![run % 5, run / 5 % 3, run / 15 % 2];
            let workers: f64 = WORKERS[levels[0]].to_string().parse().unwrap();
            let error = noise * normal(seed.split(&run.to_string()));
            instances.push(StudyInstance {
                set: 0,
                cost: cost(workers, levels[2] == 1) * error.exp(),
                levels,
                iterations: 1,
                time: 0.0,
                session: 0,
            });
        }
        let numeric = |name: &str, levels: &[i64]| StudyFactor {
            name: name.to_owned(),
            levels: levels.iter().copied().map(Level::Integer).collect(),
        };
        let factors = vec![
            numeric("workers", &WORKERS),
            numeric("delay", &[0, 1, 2]),
            StudyFactor::new("quiet".to_owned(), vec![Level::Bool(true)]),
        ];
        let treatments = factors.iter().enumerate().flat_map(|(at, factor)| {
            (1..factor.levels.len()).map(move |level| Treatment {
                factor: at,
                level,
                name: factor.treatment_name(level),
            })
        });
        StudyData {
            suite: "s".to_owned(),
            benchmark: "b".to_owned(),
            metric: StudyMetric::new("wall_time", &Metric::lower("s")),
            treatments: treatments.collect(),
            factors,
            instances,
            failed: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Returns the share of intervals that hold the expected value, and how often the delay has a curve.
    fn shares(cost: impl Fn(f64, bool) -> f64) -> [f64; 2] {
        const STUDIES: usize = 100;
        let (mut covered, mut all, mut false_curves) = (0_usize, 0_usize, 0_usize);
        for number in 0..STUDIES {
            let data = study(&cost, 0.05, Seed(7).split(&number.to_string()));
            let study = ExplainedStudy::new(&data, Some(StudyScale::Log)).unwrap();
            let curves = ResponseCurve::all(&study);
            assert_eq!([curves[0].factor, curves[1].factor], [0, 1]);
            false_curves += usize::from(!curves[1].points.is_empty());
            for point in &curves[0].points {
                let truth = [false, true].map(|quiet| cost(point.number, quiet).ln());
                let interval = point.interval.unwrap();
                covered += usize::from(interval.contains(0.5 * (truth[0] + truth[1])));
                all += 1;
            }
        }
        [
            as_f64(covered) / as_f64(all),
            as_f64(false_curves) / as_f64(STUDIES),
        ]
    }

    #[test]
    fn a_curve_holds_the_expected_values_and_a_factor_without_effect_has_none() {
        let valley = |workers: f64, quiet: bool| {
            let doublings = workers.log2();
            let gain = if quiet { 0.2 } else { 0.0 };
            (5.0 - 0.5 * doublings + 0.1 * doublings.powi(2) - gain).exp()
        };
        let saturating = |workers: f64, quiet: bool| {
            let rest = if quiet { 30.0 } else { 40.0 };
            rest + 200.0 / workers
        };
        for shares in [shares(valley), shares(saturating)] {
            let [covered, flat] = shares;
            assert!((0.92..=0.98).contains(&covered), "{shares:?}");
            assert!(flat <= 0.05, "{shares:?}");
        }
    }

    #[test]
    fn points_are_in_the_order_of_their_numbers_and_count_their_instances() {
        let data = study(|workers, _| 10.0 + workers, 0.01, Seed(1));
        let study = ExplainedStudy::new(&data, None).unwrap();
        let curve = &ResponseCurve::all(&study)[0];
        let told = curve.points.iter();
        let told: Vec<(f64, usize)> = told.map(|it| (it.number, it.instances)).collect();
        assert_eq!(told, [1.0, 2.0, 4.0, 8.0, 16.0].map(|number| (number, 18)));
        let [least, most] = curve.ends().unwrap();
        // The base, four, comes first among the levels.
        assert_eq!([least.level, most.level], [1, 4]);
    }
}
