//! Two commits, or a commit and the working tree, measured until a question about them is answered.

use lapwing_measure::{RunEnd, RunError};
use lapwing_model::text::counted;
use lapwing_stats::{
    ComparisonLook, Confidence, Difference, FamilyTest, Interval, Replicates, Seed, as_f64,
    comparison_looks, family_tests, standard_deviation,
};

use super::visits::{CommitVisits, VisitStep};
use lapwing_measure::session::OpenMeasurement;
use lapwing_show::ratio;

/// Draws relabellings where there are too many for all of them.
const SEED: Seed = Seed(7);

/// A comparison of two commits; its interval is corrected for repeated looks, too.
#[derive(Debug, Clone, Copy)]
pub struct CommitComparison {
    /// The positions of both commits in the plan.
    pub commits: [usize; 2],
    /// The instances of each side.
    pub instances: [usize; 2],
    /// The difference of the logarithms.
    pub difference: Difference,
    /// The test that it is from; `None` if all values are equal.
    pub test: Option<FamilyTest>,
    /// Its standard error.
    pub error: f64,
    /// The p-value that sufficed at the last look.
    pub level: f64,
    /// Whether they differ significantly, corrected for repeated looks.
    pub is_certain: bool,
}

impl CommitComparison {
    /// Returns the ratio with its interval.
    pub fn ratio(&self) -> (f64, Interval) {
        let interval = self.difference.interval;
        let ends = Interval {
            lower: interval.lower.exp(),
            upper: interval.upper.exp(),
        };
        (self.difference.value.exp(), ends)
    }

    /// Returns how many standard errors apart the sides are.
    pub fn standard_errors(&self) -> f64 {
        self.difference.value.abs() / self.error.max(f64::MIN_POSITIVE)
    }

    /// Returns `1.10× [1.07, 1.13]`.
    pub fn text(&self) -> String {
        let (value, interval) = self.ratio();
        format!(
            "{} [{}, {}]",
            ratio(value),
            ratio(interval.lower).trim_end_matches('×'),
            ratio(interval.upper).trim_end_matches('×')
        )
    }

    /// Returns `7 instances each`.
    pub fn instances_text(&self) -> String {
        let [one, other] = self.instances;
        if one == other {
            format!("{} each", counted(one, "instance"))
        } else {
            format!("{one} and {other} instances")
        }
    }
}

/// How a comparison ended.
pub enum ComparisonEnd {
    Interrupted,
    /// These cannot be measured.
    Broken(Vec<usize>),
    /// The last look at it.
    Compared(CommitComparison),
}

/// A comparison of a benchmark at two commits.
pub struct SideComparison {
    pub case: usize,
    /// The positions of both commits in the plan, the baseline first.
    pub commits: [usize; 2],
    /// Logarithms of a baseline that was measured before; then only the candidate is measured.
    pub baseline: Option<Vec<f64>>,
    /// Earlier comparisons of the benchmark, which show its noise.
    pub history: Vec<Replicates>,
    /// The most instances of each side.
    pub most: usize,
    /// The error rate of all looks together, two-sided.
    pub alpha: f64,
}

impl SideComparison {
    /// Measures, with looks in between, until one of them is enough or the most instances are reached.
    pub fn measure(
        &self,
        visits: &mut CommitVisits<'_>,
        measurement: &mut OpenMeasurement<'_, '_, '_>,
        is_enough: impl Fn(&CommitComparison) -> bool,
    ) -> Result<ComparisonEnd, RunError> {
        let begin = visits.instances();
        let stored = self.baseline.as_ref().map(Vec::len);
        let looks = comparison_looks(self.most, stored, self.alpha);
        let (mut done, mut end) = (0, ComparisonEnd::Broken(Vec::new()));
        for look in looks {
            let steps = self.steps(done..look.replicates, visits.share_environment());
            done = look.replicates;
            if visits.measure(measurement, &steps)? == RunEnd::Interrupted {
                return Ok(ComparisonEnd::Interrupted);
            }
            let compared = match self.compared(visits, begin, look) {
                Ok(compared) => compared,
                Err(broken) => return Ok(ComparisonEnd::Broken(broken)),
            };
            visits.say(&format!(
                "{}: {}",
                compared.instances_text(),
                compared.text()
            ));
            end = ComparisonEnd::Compared(compared);
            if is_enough(&compared) {
                break;
            }
        }
        Ok(end)
    }

    /// Returns what is measured of these pairs: one, other, other, one, so that a steady drift of the machine does
    /// not count. If each change of the commit costs an installation, all instances of one commit come first, then
    /// those of the other.
    fn steps(&self, pairs: std::ops::Range<usize>, is_dear: bool) -> Vec<VisitStep> {
        let case = self.case;
        let step = |variant| VisitStep { case, variant };
        let [one, other] = self.commits.map(step);
        let count = pairs.len();
        if self.baseline.is_some() {
            return vec![other; count];
        }
        if is_dear {
            let halves = match pairs.start % 2 {
                0 => [one, other],
                _ => [other, one],
            };
            return halves.into_iter().flat_map(|it| vec![it; count]).collect();
        }
        pairs
            .flat_map(|pair| match pair % 2 {
                0 => [one, other],
                _ => [other, one],
            })
            .collect()
    }

    /// Returns the comparison at a look.
    ///
    /// # Errors
    /// With the commits that cannot be measured.
    fn compared(
        &self,
        visits: &CommitVisits<'_>,
        begin: usize,
        look: ComparisonLook,
    ) -> Result<CommitComparison, Vec<usize>> {
        let commits = self.commits;
        let case = self.case;
        let measured = commits.map(|variant| visits.logs_since(begin, VisitStep { case, variant }));
        let sides = match (&self.baseline, measured) {
            (Some(baseline), [_, candidate]) => [baseline.clone(), candidate],
            (None, measured) => measured,
        };
        let broken = commits.into_iter().zip(&sides).filter(|it| it.1.len() < 2);
        let broken: Vec<usize> = broken.map(|(commit, _)| commit).collect();
        let instances = [sides[0].len(), sides[1].len()];
        let variance: f64 = (sides.iter())
            .map(|side| {
                let deviation = standard_deviation(side).unwrap_or(f64::NAN);
                deviation.powi(2) / as_f64(side.len())
            })
            .sum();
        let confidence = Confidence::new(1.0 - look.level).unwrap_or(Confidence::P95);
        let replicates = Replicates::Sides(sides);
        let test = family_tests(std::slice::from_ref(&replicates), &self.history, SEED)[0];
        let by_history = test.and_then(|test| {
            let (interval, method) = test.interval(confidence)?;
            Some(Difference {
                value: test.difference,
                interval,
                p_value: test.p_value,
                method,
            })
        });
        match by_history.or_else(|| replicates.difference(confidence)) {
            Some(difference) if broken.is_empty() => Ok(CommitComparison {
                commits,
                instances,
                difference,
                test,
                error: variance.sqrt(),
                level: look.level,
                is_certain: difference.p_value <= look.level,
            }),
            Some(_) | None => Err(broken),
        }
    }
}
