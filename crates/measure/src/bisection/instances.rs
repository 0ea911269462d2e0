//! The mean of each instance: of those that are measured, and of those that a session has already.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::error::Error;
use std::rc::Rc;

use lapwing_model::{Id, InstanceOutcome, MetricName, Outcome, Record};
use lapwing_record::{Filter, InstanceData, Retired, Store, StoreError};

use crate::session::{SessionRemark, SessionWatch};
use crate::suite::nearest;
use crate::{Consumer, Event};

/// An instance that was measured.
#[derive(Debug, Clone)]
pub struct MeasuredInstance {
    /// The position of its benchmark in the plan.
    pub case: usize,
    /// The position of its commit in the plan.
    pub variant: usize,
    /// The mean of the metric over the iterations that count; `None` if there is none.
    pub mean: Option<f64>,
    /// Why there is none.
    pub message: Option<String>,
}

/// The instances that were measured so far.
pub type SharedInstances = Rc<RefCell<Vec<MeasuredInstance>>>;

/// Keeps the mean of each instance.
pub struct InstanceWatch<'a> {
    metric: String,
    watch: &'a dyn SessionWatch,
    measured: SharedInstances,
    /// The positions of the benchmark and the commit that are being measured.
    step: (usize, usize),
    values: Vec<f64>,
    /// The metrics of its iterations.
    names: BTreeSet<MetricName>,
    message: Option<String>,
}

impl<'a> InstanceWatch<'a> {
    /// Returns a consumer that keeps the means of a metric; `watch` receives notes.
    pub fn new(metric: &str, watch: &'a dyn SessionWatch) -> Self {
        Self {
            metric: metric.to_owned(),
            watch,
            measured: SharedInstances::default(),
            step: (0, 0),
            values: Vec::new(),
            names: BTreeSet::new(),
            message: None,
        }
    }

    /// Returns the instances that were measured so far.
    pub fn measured(&self) -> SharedInstances {
        Rc::clone(&self.measured)
    }
}

impl Consumer for InstanceWatch<'_> {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
        match event {
            Event::InstanceStarted { planned, .. } => {
                self.step = (planned.case, planned.variant);
                self.values.clear();
                self.names.clear();
                self.message = None;
            }
            Event::Record(Record::Iteration(iteration)) if !iteration.burn_in => {
                match iteration.outcome {
                    Outcome::Ok => {
                        self.values.extend(iteration.metrics.get(&self.metric));
                        self.names.extend(iteration.metrics.keys().cloned());
                    }
                    _ => self.message.clone_from(&iteration.message),
                }
            }
            // A lost one is measured again.
            Event::Record(Record::InstanceEnd(end)) if end.outcome != InstanceOutcome::Lost => {
                let (case, variant) = self.step;
                let message = end.message.clone().or_else(|| self.message.take());
                let message = message.or_else(|| lacking(&self.metric, &self.names));
                self.measured.borrow_mut().push(MeasuredInstance {
                    case,
                    variant,
                    mean: lapwing_stats::mean(&self.values),
                    message,
                });
            }
            Event::Note(text) => self.watch.remark(SessionRemark::Note(text.clone())),
            Event::Record(_) | Event::Started { .. } | Event::Jobs(_) | Event::Ended => {}
        }
        Ok(())
    }
}

/// An instance that a session has already.
#[derive(Debug, Clone)]
pub struct StoredInstance {
    pub benchmark: String,
    /// The hash of its commit.
    pub commit: String,
    pub position: u32,
    pub block: u32,
    pub mean: Option<f64>,
    pub message: Option<String>,
}

/// Returns the instances of a session in the order of their measurement.
pub fn stored_instances(
    store: &Store,
    session: Id,
    metric: &str,
) -> Result<VecDeque<StoredInstance>, StoreError> {
    let filter = Filter {
        retired: Retired::Show,
        ..Filter::of_session(session)
    };
    let mut instances = Vec::new();
    let read = store.each_recorded(&filter, |recorded| {
        let has_ended = |data: &&InstanceData| {
            let end = data.end.as_ref();
            end.is_some_and(|end| end.outcome != InstanceOutcome::Lost)
        };
        let ended = recorded.instances.iter().filter(has_ended);
        instances.extend(ended.map(|data| StoredInstance {
            benchmark: data.instance.benchmark.id.clone(),
            commit: data.run.version.commit.clone().unwrap_or_default(),
            position: data.instance.position,
            block: data.instance.block,
            mean: instance_mean(data, metric),
            message: message(data, metric),
        }));
        Ok::<(), StoreError>(())
    });
    match read {
        // Nothing was measured yet.
        Ok(()) | Err(StoreError::NoMatch { .. }) => {}
        Err(error) => return Err(error),
    }
    instances.sort_by_key(|instance| instance.position);
    Ok(instances.into())
}

/// Returns the mean of a metric over the iterations of an instance that count.
pub fn instance_mean(instance: &InstanceData, metric: &str) -> Option<f64> {
    let iterations = &instance.iterations;
    let values = iterations.values.get(metric)?;
    let counted: Vec<f64> = (0..iterations.len())
        .filter(|at| !iterations.burn_in[*at] && iterations.outcome[*at] == Outcome::Ok)
        .map(|at| values[at])
        .filter(|value| value.is_finite())
        .collect();
    lapwing_stats::mean(&counted)
}

fn message(instance: &InstanceData, metric: &str) -> Option<String> {
    let end = instance.end.as_ref().and_then(|end| end.message.clone());
    let iterations = &instance.iterations;
    end.or_else(|| iterations.messages.values().next_back().cloned())
        .or_else(|| lacking(metric, &iterations.values.keys().cloned().collect()))
}

/// Returns that a metric is not among those of an instance that has others.
fn lacking(metric: &str, names: &BTreeSet<MetricName>) -> Option<String> {
    if names.is_empty() || names.contains(metric) {
        return None;
    }
    Some(match nearest(metric, names.iter().map(String::as_str)) {
        Some(close) => format!("it gave no `{metric}`; did you mean `{close}`?"),
        None => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!(
                "it gave no `{metric}`; its metrics are {}",
                names.join(", ")
            )
        }
    })
}
