//! Collects the mean of each instance for a bisection.

use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;

use lapwing_core::measure::{Consumer, Event};
use lapwing_core::model::{Outcome, Record};

use crate::options::Context;

/// An instance that was measured.
#[derive(Debug, Clone)]
pub struct MeasuredInstance {
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
    context: &'a Context,
    measured: SharedInstances,
    variant: usize,
    values: Vec<f64>,
    message: Option<String>,
}

impl<'a> InstanceWatch<'a> {
    pub fn new(metric: &str, context: &'a Context) -> Self {
        Self {
            metric: metric.to_owned(),
            context,
            measured: SharedInstances::default(),
            variant: 0,
            values: Vec::new(),
            message: None,
        }
    }

    /// Returns where the instances are.
    pub fn measured(&self) -> SharedInstances {
        Rc::clone(&self.measured)
    }
}

impl Consumer for InstanceWatch<'_> {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
        match event {
            Event::InstanceStarted { planned, .. } => {
                self.variant = planned.variant;
                self.values.clear();
                self.message = None;
            }
            Event::Record(Record::Iteration(iteration)) if !iteration.burn_in => {
                match iteration.outcome {
                    Outcome::Ok => self.values.extend(iteration.metrics.get(&self.metric)),
                    _ => self.message.clone_from(&iteration.message),
                }
            }
            Event::Record(Record::InstanceEnd(end)) => {
                self.measured.borrow_mut().push(MeasuredInstance {
                    variant: self.variant,
                    mean: lapwing_stats::mean(&self.values),
                    message: end.message.clone().or_else(|| self.message.take()),
                });
            }
            Event::Note(text) => self.context.terminal.note(text),
            Event::Record(_) | Event::Started { .. } | Event::Ended => {}
        }
        Ok(())
    }
}
