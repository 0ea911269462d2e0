//! Reads the plugin's output of one instance.

use std::collections::BTreeMap;

use super::interpreter::of_instance;
use lapwing_model::{
    Better, Instance, InstanceEnd, Iteration, Metric, MetricName, Object, Outcome, Record, Run,
    parse_line,
};

/// The records of one test by one process of pytest.
#[derive(Debug, Default, PartialEq)]
pub(super) struct RecordedTest {
    /// The instance, once it was begun.
    pub(super) instance: Option<Instance>,
    /// Its iterations, in order.
    pub(super) iterations: Vec<Iteration>,
    /// Its end, if it came so far.
    pub(super) end: Option<InstanceEnd>,
    /// The metrics that its run declares.
    pub(super) metrics: BTreeMap<MetricName, Metric>,
    /// The environment in its run.
    pub(super) environment: Object,
    /// The first line that is no record, with what is wrong with it.
    pub(super) unreadable: Option<String>,
}

impl RecordedTest {
    /// Adds to an instance what the process told of itself.
    pub(super) fn describe(&self, instance: &mut Instance, run: &Run) {
        if let Some(own) = &self.instance {
            instance.attributes = own.attributes.clone();
            instance.artifacts = own.artifacts.clone();
            // The test as it was executed, should somebody have changed it since it was collected.
            instance.benchmark.fingerprint = own.benchmark.fingerprint.clone();
        }
        instance.environment = of_instance(&run.environment, &self.environment);
    }

    /// Adds to a run the metrics that iterations have and it does not declare; returns whether there are any. A run is
    /// written before its first value, and may be told of again with more metrics.
    ///
    /// Iterations that have a metric in another unit or direction than the run has it fail, as they do where one call
    /// of pytest measures all tests: one name is one quantity.
    pub(super) fn declare(&mut self, run: &mut Run) -> bool {
        let mut is_news = false;
        for (name, metric) in &self.metrics {
            let has_it = |it: &&mut Iteration| it.metrics.contains_key(name);
            let mut iterations = self.iterations.iter_mut().filter(has_it).peekable();
            if iterations.peek().is_none() {
                continue;
            }
            match run.metrics.get(name) {
                None => {
                    run.metrics.insert(name.clone(), metric.clone());
                    is_news = true;
                }
                // One of which nobody said anything is what the run has.
                Some(known) if known == metric || *metric == Metric::undirected("1") => {}
                Some(known) => {
                    let why = format!(
                        "metric `{name}` is {} here, and {} in another test: give one of them another name",
                        described(metric),
                        described(known)
                    );
                    iterations.for_each(|it| refuse(it, name, &why));
                }
            }
        }
        is_news
    }
}

/// Returns `B/s (lower is better)`.
fn described(metric: &Metric) -> String {
    let unit = match metric.unit.as_str() {
        "" => "of no known unit",
        unit => unit,
    };
    match metric.better {
        Some(Better::Lower) => format!("{unit} (lower is better)"),
        Some(Better::Higher) => format!("{unit} (higher is better)"),
        None => unit.to_owned(),
    }
}

/// Takes a value away and says why; what failed already keeps its own reason.
fn refuse(it: &mut Iteration, name: &str, why: &str) {
    it.metrics.remove(name);
    if it.outcome == Outcome::Ok {
        it.outcome = Outcome::Failed;
        it.message = Some(why.to_owned());
    }
}

/// Returns what the lines say of the benchmark of that id. A last line that was cut off is left out.
pub(super) fn read(text: &str, benchmark: &str) -> RecordedTest {
    let mut found = RecordedTest::default();
    let mut runs = BTreeMap::new();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    for (number, line) in whole.lines().enumerate() {
        let is_own = |id| found.instance.as_ref().is_some_and(|own| own.id == id);
        match parse_line(line.as_bytes()) {
            Ok(Record::Run(run)) => {
                runs.insert(run.id, (run.metrics, run.environment));
            }
            Ok(Record::Instance(it))
                if it.benchmark.id == benchmark && found.instance.is_none() =>
            {
                (found.metrics, found.environment) = runs.remove(&it.run).unwrap_or_default();
                found.instance = Some(it);
            }
            Ok(Record::Iteration(it)) if is_own(it.instance) => found.iterations.push(it),
            Ok(Record::InstanceEnd(it)) if is_own(it.instance) => found.end = Some(it),
            Ok(
                Record::Session(_)
                | Record::Instance(_)
                | Record::Iteration(_)
                | Record::InstanceEnd(_)
                | Record::Span(_)
                | Record::Summary(_)
                | Record::Annotation(_),
            ) => {}
            Err(error) => {
                found.unreadable = Some(format!("line {}: {error}", number + 1));
                break;
            }
        }
    }
    found
}
