//! What the runs of a benchmark say of its factors, definitions and metrics.

use std::collections::BTreeMap;
use std::sync::Arc;

use lapwing_analyse::judge::MetricChoice;
use lapwing_analyse::sample::{BenchmarkData, Sample};
use lapwing_model::{Level, Run, Session, natural_order};

use crate::data::{MOST_TREATMENTS, StudyError};
use crate::design::StudyDesign;
use crate::factor::{StudyFactor, Treatment};

/// The definitions of factors that hold: those of the latest runs.
pub(crate) struct Definitions(BTreeMap<String, String>);

impl Definitions {
    pub(crate) fn of(data: &BenchmarkData) -> Self {
        let definitions = data.instances.iter().flat_map(|it| &it.run.definitions);
        let owned = definitions.map(|(factor, definition)| (factor.clone(), definition.clone()));
        // Later ones replace those before.
        Self(owned.collect())
    }

    /// Returns whether a run is of the current definitions: where a treatment is absent its definition does not matter.
    pub(crate) fn is_current(&self, run: &Run) -> bool {
        run.definitions.iter().all(|(factor, definition)| {
            let is_absent = run.factors.get(factor) == Some(&Level::Bool(false));
            is_absent || self.0.get(factor) == Some(definition)
        })
    }
}

/// Returns the factors of all runs, in the order that sessions state, and others in natural order.
pub(crate) fn factors_of(data: &BenchmarkData) -> Vec<StudyFactor> {
    let mut levels: BTreeMap<&str, Vec<Level>> = BTreeMap::new();
    let mut stated: Vec<String> = Vec::new();
    let mut bases: BTreeMap<String, Level> = BTreeMap::new();
    let mut before: Option<&Arc<Session>> = None;
    for instance in &data.instances {
        for (name, level) in &instance.run.factors {
            let own = levels.entry(name).or_default();
            if !own.contains(level) {
                own.push(level.clone());
            }
        }
        // Thousands of instances share a session.
        let is_seen = before.is_some_and(|before| Arc::ptr_eq(before, &instance.session));
        before = Some(&instance.session);
        if is_seen {
            continue;
        }
        for (name, base) in stated_factors(&instance.session) {
            bases.extend(base.map(|base| (name.to_owned(), base)));
            if !stated.iter().any(|own| own == name) {
                stated.push(name.to_owned());
            }
        }
    }
    let place = |name: &str| {
        let position = stated.iter().position(|known| *known == name);
        position.unwrap_or(usize::MAX)
    };
    let factors = levels.into_iter().map(|(name, levels)| {
        let factor = StudyFactor::new(name.to_owned(), levels);
        match bases.get(name) {
            Some(base) => factor.with_base(base),
            None => factor,
        }
    });
    let mut factors: Vec<StudyFactor> = factors.collect();
    factors.sort_by(|one, other| {
        let places = place(&one.name).cmp(&place(&other.name));
        places.then_with(|| natural_order(&one.name, &other.name))
    });
    factors
}

/// Returns the factors that a session states, in order, with their bases: the first levels in its design, or in the
/// table that it was imported from.
fn stated_factors(session: &Session) -> impl Iterator<Item = (&str, Option<Level>)> {
    let design = session.attributes.get(StudyDesign::ATTRIBUTE);
    let factors = design.and_then(|design| design.get("factors")?.as_array());
    factors.into_iter().flatten().filter_map(|factor| {
        let name = factor.get("name")?.as_str()?;
        let base = factor.get("levels").and_then(|levels| levels.get(0));
        let base = base.and_then(|base| serde_json::from_value(base.clone()).ok());
        Some((name, base))
    })
}

pub(crate) fn treatments(factors: &[StudyFactor]) -> Result<Vec<Treatment>, StudyError> {
    let mut treatments = Vec::new();
    for (factor, own) in factors.iter().enumerate() {
        treatments.extend((1..own.levels.len()).map(|level| Treatment {
            factor,
            level,
            name: own.treatment_name(level),
        }));
    }
    let count = treatments.len();
    if count > MOST_TREATMENTS {
        return Err(StudyError::TooMany { count });
    }
    Ok(treatments)
}

/// Returns the metric that is judged by default if there is only one, apart from the memory.
pub(crate) fn only_metric(sample: &Sample<'_>, benchmark: String) -> Result<String, StudyError> {
    let has_values = |name: &String| {
        let instances = sample.instances.iter();
        let mut columns = instances.filter_map(|it| it.iterations.values.get(name));
        columns.any(|column| column.iter().any(|value| value.is_finite()))
    };
    let mut candidates = MetricChoice::Directed.of(sample);
    candidates.retain(has_values);
    if candidates.len() > 1 {
        candidates.retain(|name| name != "peak_memory");
    }
    if candidates.len() > 1 {
        return Err(StudyError::SeveralMetrics {
            benchmark,
            candidates,
        });
    }
    let metric = "wall_time".to_owned();
    let only = candidates.pop();
    only.ok_or(StudyError::NoValues { benchmark, metric })
}
