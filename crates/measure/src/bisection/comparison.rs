//! Two commits, or a commit and the working tree, measured until a question about them is answered.

use lapwing_stats::{ComparisonLook, LookedDifference, VariancePrior};

use super::SearchStep;
use super::visits::{CommitVisits, VisitStep};
use crate::session::OpenMeasurement;
use crate::{RunEnd, RunError};

/// A comparison of two commits.
#[derive(Debug, Clone, Copy)]
pub struct CommitComparison {
    /// The positions of both commits in the plan.
    pub commits: [usize; 2],
    /// Their difference at the last look.
    pub looked: LookedDifference,
}

/// The end of a comparison.
#[derive(Debug)]
pub enum ComparisonEnd {
    /// Measuring had to stop.
    Interrupted,
    /// These cannot be measured.
    Broken(Vec<usize>),
    /// The last look at it.
    Compared(CommitComparison),
}

/// A baseline that was measured before.
#[derive(Debug)]
pub struct StoredBaseline {
    /// The logarithms of its instances, by session.
    pub sessions: Vec<Vec<f64>>,
    /// What is known of the variance of a session's mean; `None` if nothing, so that only these sessions are judged.
    pub noise: Option<VariancePrior>,
}

impl StoredBaseline {
    /// Returns the number of its instances.
    pub fn instances(&self) -> usize {
        self.sessions.iter().map(Vec::len).sum()
    }
}

/// A comparison of a benchmark at two commits.
#[derive(Debug)]
pub struct SideComparison {
    /// The position of the benchmark in the plan.
    pub case: usize,
    /// The positions of both commits in the plan, the baseline first.
    pub commits: [usize; 2],
    /// A baseline that was measured before; then only the candidate is measured.
    pub baseline: Option<StoredBaseline>,
    /// The looks at it.
    pub looks: Vec<ComparisonLook>,
}

impl SideComparison {
    /// Measures on fresh instances, with looks in between, until one of them is enough or all were taken.
    ///
    /// # Errors
    /// If measuring fails.
    pub fn measure(
        &self,
        visits: &mut CommitVisits<'_>,
        measurement: &mut OpenMeasurement<'_, '_, '_>,
        is_enough: impl Fn(&LookedDifference) -> bool,
    ) -> Result<ComparisonEnd, RunError> {
        let begin = visits.instances();
        let (mut done, mut end) = (0, ComparisonEnd::Broken(Vec::new()));
        for look in self.looks.iter().copied() {
            let steps = self.steps(done..look.replicates, visits.share_environment());
            done = look.replicates;
            if visits.measure(measurement, &steps)? == RunEnd::Interrupted {
                return Ok(ComparisonEnd::Interrupted);
            }
            let compared = match self.compared(visits, begin, look) {
                Ok(compared) => compared,
                Err(broken) => return Ok(ComparisonEnd::Broken(broken)),
            };
            visits.tell(None, SearchStep::Looked(Box::new(compared.looked)));
            end = ComparisonEnd::Compared(compared);
            if is_enough(&compared.looked) {
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
        let in_turn = |pair| match pair % 2 {
            0 => [one, other],
            _ => [other, one],
        };
        if self.baseline.is_some() {
            return vec![other; count];
        }
        if is_dear {
            let halves = in_turn(pairs.start).into_iter();
            return halves.flat_map(|half| vec![half; count]).collect();
        }
        pairs.flat_map(in_turn).collect()
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
            (Some(baseline), [_, candidate]) => [baseline.sessions.concat(), candidate],
            (None, measured) => measured,
        };
        let broken = commits.into_iter().zip(&sides);
        let broken = broken.filter(|(_, logs)| logs.len() < 2);
        let broken: Vec<usize> = broken.map(|(commit, _)| commit).collect();
        let across = self.baseline.as_ref().and_then(|baseline| {
            let noise = baseline.noise?;
            LookedDifference::across_sessions(look, &baseline.sessions, &sides[1], &noise)
        });
        let across = across.filter(|_| broken.is_empty());
        match across.or_else(|| LookedDifference::by_ranks(look, &sides[0], &sides[1])) {
            Some(looked) => Ok(CommitComparison { commits, looked }),
            None => Err(broken),
        }
    }
}
