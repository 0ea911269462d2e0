//! Go's results on their way to the intake, those of one benchmark together.
//!
//! The results of one benchmark follow each other as a rule, but need not. So some ten thousand
//! are held at a time, whatever the length of the source.

use std::collections::BTreeMap;

use crate::ImportError;
use crate::go::drafts::{instance_draft, quantities, run_draft};
use crate::go::line::Quantity;
use crate::go::stream::GoMeasured;
use crate::go::text::{Failure, GoText};
use crate::go::visits::{Roles, Visits};
use crate::shared::intake::{Intake, TakenInstance};
use lapwing_model::text::plural;
use lapwing_model::{Id, MOST_METRICS, Metric, MetricName, Object};
use lapwing_record::{IterationColumns, Mark};

/// Results to hold.
const RESULTS: usize = 1 << 16;

/// Values to hold.
const VALUES: usize = 1 << 18;

/// Results that wait.
pub(super) struct Results {
    roles: Roles,
    visits: Visits,
    /// The quantity that each unit counts.
    quantities: Vec<Quantity>,
    /// The failures, by the number of the result.
    failures: BTreeMap<u64, Failure>,
    /// The runs that the intake has, by settings.
    runs: BTreeMap<u32, Id>,
    /// The state of each visit.
    states: Vec<State>,
    held: Vec<Held>,
    values: Vec<(f64, u32)>,
    /// The number of values of each unit that are not finite.
    not_finite: BTreeMap<u32, u64>,
}

/// The state of a visit.
enum State {
    /// It waits.
    Waiting,
    /// The intake has it.
    Taken(TakenInstance),
    /// The intake refused it.
    Bad,
}

struct Held {
    visit: u32,
    loops: u64,
    number: u64,
    /// The range of its values.
    values: std::ops::Range<usize>,
}

impl Results {
    /// Begins with what is known of a source as a whole.
    pub(super) fn of(text: &GoText, failures: BTreeMap<u64, Failure>) -> Self {
        let roles = Roles::of(text);
        let visits = Visits::of(text, &roles);
        Self {
            states: visits.visits.iter().map(|_| State::Waiting).collect(),
            roles,
            visits,
            quantities: quantities(text),
            failures,
            runs: BTreeMap::new(),
            held: Vec::new(),
            values: Vec::new(),
            not_finite: BTreeMap::new(),
        }
    }

    /// Takes a result.
    pub(super) fn take(
        &mut self,
        text: &GoText,
        measured: &GoMeasured<'_>,
        intake: &mut Intake<'_, '_, '_>,
    ) -> Result<(), ImportError> {
        let Some(visit) = self.visits.of_group(measured.group) else {
            return Ok(());
        };
        let begin = self.values.len();
        self.values.extend(measured.values);
        self.held.push(Held {
            visit,
            loops: measured.loops,
            number: measured.number,
            values: begin..self.values.len(),
        });
        // Of no iterations there is no mean, and it is said that they failed.
        if !self.failures.contains_key(&measured.number) {
            for (_, unit) in measured.values.iter().filter(|(it, _)| it.is_nan()) {
                *self.not_finite.entry(*unit).or_default() += 1;
            }
        }
        if self.held.len() >= RESULTS || self.values.len() >= VALUES {
            self.hand_over(text, intake)?;
        }
        Ok(())
    }

    /// Hands over the last ones.
    pub(super) fn finish(
        mut self,
        text: &GoText,
        intake: &mut Intake<'_, '_, '_>,
    ) -> Result<(), ImportError> {
        self.hand_over(text, intake)?;
        for (unit, count) in self.not_finite {
            let values = plural(count, "value", "values");
            let what = format!("{count} {values} of {}", text.units.at(unit));
            intake.notes().left(&what, "they are NaN or infinite");
        }
        Ok(())
    }

    fn hand_over(
        &mut self,
        text: &GoText,
        intake: &mut Intake<'_, '_, '_>,
    ) -> Result<(), ImportError> {
        let mut held = std::mem::take(&mut self.held);
        // Those of a visit stay in their order, and visits begin in theirs.
        held.sort_by_key(|it| it.visit);
        for of_visit in held.chunk_by(|one, next| one.visit == next.visit) {
            let number = of_visit[0].visit as usize;
            let visit = &self.visits.visits[number];
            let run = match self.runs.get(&visit.settings) {
                Some(run) => *run,
                None => {
                    let run = intake.run(run_draft(text, &self.roles, visit.settings))?;
                    self.runs.insert(visit.settings, run);
                    run
                }
            };
            if matches!(self.states[number], State::Waiting) {
                let draft = instance_draft(text, &self.roles, visit);
                let taken = intake.begin_instance(visit.line.into(), run, draft)?;
                self.states[number] = taken.map_or(State::Bad, State::Taken);
            }
            let (metrics, columns) = self.columns(of_visit);
            match &mut self.states[number] {
                State::Taken(instance) => {
                    intake.more_iterations(run, instance, metrics, columns)?;
                }
                State::Waiting | State::Bad => {}
            }
        }
        held.clear();
        self.held = held;
        self.values.clear();
        Ok(())
    }

    /// Returns results in columns, with the metrics that have values there.
    fn columns(&self, results: &[Held]) -> (BTreeMap<MetricName, Metric>, IterationColumns) {
        let mut metrics = BTreeMap::new();
        let mut columns = IterationColumns {
            count: results.len(),
            loops: results.iter().map(|it| it.loops).collect(),
            ..IterationColumns::default()
        };
        for (k, result) in results.iter().enumerate() {
            for &(value, unit) in &self.values[result.values.clone()] {
                let Some(Quantity { metric, unit }) = self.quantities.get(unit as usize) else {
                    continue;
                };
                if value.is_nan() {
                    continue;
                }
                if let Some(column) = columns.values.get_mut(metric) {
                    column[k] = unit.base(value);
                // One more is refused.
                } else if columns.values.len() <= MOST_METRICS {
                    let mut column = vec![f64::NAN; results.len()];
                    column[k] = unit.base(value);
                    columns.values.insert(metric.clone(), column);
                    metrics.insert(metric.clone(), unit.metric.clone());
                }
            }
        }
        for (k, result) in (0_u32..).zip(results) {
            if let Some(failure) = self.failures.get(&result.number) {
                let mark = Mark {
                    outcome: failure.outcome,
                    message: failure.message.clone(),
                    attributes: Object::new(),
                };
                columns.marks.insert(k, mark);
            }
        }
        (metrics, columns)
    }
}
