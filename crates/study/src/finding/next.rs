//! What to measure next.

use lapwing_stats::linear_model::ModelTerm;

use super::MainEffect;
use crate::alias::FoldOver;
use crate::data::StudyData;
use crate::explained::{ExplainedStudy, Recommendation};

/// A recommended setting with fewer instances is to be confirmed.
const CONFIRMED: usize = 3;

/// Something to measure next.
#[derive(Debug, Clone, PartialEq)]
pub enum NextMeasurement {
    /// The recommended setting against the base and the next best one.
    Confirm {
        /// The set of the recommended one.
        set: u128,
        /// The set of the next best one.
        runner_up: u128,
    },
    /// Settings with and without treatments whose effects cannot be told from those of others.
    NotTold {
        /// The numbers of the treatments.
        treatments: Vec<usize>,
    },
    /// The same settings with levels exchanged, which tells what was found from what it could be instead.
    FoldOver(FoldOver),
    /// Replicates of a few settings: there are too few to tell noise from interactions.
    Replicates,
    /// More instances, so that the intervals of undecided treatments are within ±5 %.
    MoreInstances {
        /// How many times as many.
        times: f64,
        /// The numbers of the treatments.
        treatments: Vec<usize>,
    },
    /// Interactions with too few settings.
    OpenPairs {
        /// Their number.
        open: usize,
        /// The number of all interactions.
        pairs: usize,
    },
}

/// Returns what to measure next, the most general first.
pub(super) fn findings(
    study: &ExplainedStudy<'_>,
    effects: &[MainEffect],
    undecided: &[MainEffect],
    recommended: Option<&Recommendation>,
) -> Vec<NextMeasurement> {
    let data = study.data;
    let mut found = Vec::new();
    if let Some(own) = recommended.filter(|own| own.instances < CONFIRMED) {
        found.push(NextMeasurement::Confirm {
            set: own.set,
            runner_up: own.runner_up,
        });
    }
    let is_told = |at: usize| {
        let mut all = effects.iter().chain(undecided);
        all.any(|effect| effect.treatment == at)
    };
    let treatments: Vec<usize> = (0..data.treatments.len())
        .filter(|at| !is_told(*at) && !always_fails(data, *at))
        .collect();
    if !treatments.is_empty() {
        found.push(NextMeasurement::NotTold { treatments });
    }
    found.extend(study.fold_over().map(NextMeasurement::FoldOver));
    if study.model.freedom() < 3.0 {
        found.push(NextMeasurement::Replicates);
    }
    found.extend(more_instances(study, undecided));
    let told = study.model.found.iter();
    let told = told.filter(|own| matches!(own.term, ModelTerm::Pair(..)) && own.aliases.is_empty());
    let open = study
        .model
        .open_pairs
        .min(study.model.pairs - told.count().min(study.model.pairs));
    if open > 0 {
        found.push(NextMeasurement::OpenPairs {
            open,
            pairs: study.model.pairs,
        });
    }
    found
}

/// Returns whether every setting with a treatment failed.
fn always_fails(data: &StudyData, treatment: usize) -> bool {
    let has = |set: u128| set >> treatment & 1 == 1;
    data.failed.iter().any(|set| has(*set)) && !data.instances.iter().any(|own| has(own.set))
}

/// Returns how many times the instances would resolve 5 % for the undecided treatments.
fn more_instances(study: &ExplainedStudy<'_>, undecided: &[MainEffect]) -> Option<NextMeasurement> {
    const WANTED: f64 = 0.05;
    let wanted = study.data.share_of_cost(study.scale, WANTED);
    let reach = |own: &MainEffect| Some(0.5 * own.effect.interval?.width() / wanted);
    let widest = undecided.iter().filter_map(reach).fold(0.0, f64::max);
    let times = (widest * widest).ceil();
    (times > 1.0).then(|| NextMeasurement::MoreInstances {
        times,
        treatments: undecided.iter().map(|effect| effect.treatment).collect(),
    })
}
