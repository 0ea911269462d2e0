//! Costs of tasks by class, for schedulers: `lapwing trace profile`.

use lapwing_model::text::counted;
use lapwing_trace::{ClassProfile, Statistics, Trace, profile};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::durations::NO_TASKS;
use super::{StatisticsFields, with_defects};
use crate::quantity;
use crate::trace::time;
use crate::writing::Align::{Left, Right};
use crate::writing::{Answer, AnswerKind, CsvRows, Table, TextAnswer, View, WriteError, csv_rows};

/// What tasks of each class take.
#[derive(Debug)]
pub struct ProfileAnswer<'t>(pub &'t Trace);

/// What tasks of each class take: times in nanoseconds, sizes in bytes.
#[derive(Debug, Serialize, JsonSchema)]
struct ProfileFields {
    /// Number of tasks.
    tasks: usize,
    classes: Vec<ClassFields>,
}

/// What tasks of a class take.
#[derive(Debug, Serialize, JsonSchema)]
struct ClassFields {
    class: String,
    /// Number of tasks.
    tasks: usize,
    /// Time on the worker.
    work: Option<StatisticsFields>,
    /// Processor time.
    cpu: Option<StatisticsFields>,
    /// Size of the results.
    bytes: Option<StatisticsFields>,
    /// Number of inputs.
    inputs: Option<StatisticsFields>,
}

/// A quantity of a class.
#[derive(Default, Serialize)]
struct ProfileRow {
    class: String,
    tasks: usize,
    quantity: &'static str,
    #[serde(flatten)]
    statistics: StatisticsFields,
}

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<ProfileFields>("trace-profile").listing("classes");

impl Answer for ProfileAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let mut table = Table::new(&[
            ("class", Left),
            ("tasks", Right),
            ("median", Right),
            ("p90", Right),
            ("longest", Right),
            ("median CPU", Right),
            ("median size", Right),
        ]);
        #[expect(clippy::cast_possible_truncation, reason = "a time in ns")]
        let of_time = |statistics: Option<Statistics>, pick: fn(Statistics) -> f64| {
            statistics.map_or_else(String::new, |it| time(pick(it) as i64))
        };
        for (class, profile) in profile(self.0) {
            let longest = profile.work.map(|work| time(work.max));
            let size = profile.bytes.map(|bytes| quantity(bytes.median, "B"));
            table.row(vec![
                class,
                profile.tasks.to_string(),
                of_time(profile.work, |work| work.median),
                of_time(profile.work, |work| work.p90),
                longest.unwrap_or_default(),
                of_time(profile.cpu, |cpu| cpu.median),
                size.unwrap_or_default(),
            ]);
        }
        let answer = TextAnswer {
            headline: match self.0.tasks.len() {
                0 => NO_TASKS.to_owned(),
                tasks => format!("time on workers of {} by class", counted(tasks, "task")),
            },
            table,
            notes: Vec::new(),
            ..TextAnswer::default()
        };
        with_defects([self.0], answer)
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let classes = profile(self.0).into_iter();
        let classes = classes.map(|(class, profile)| ClassFields {
            class,
            tasks: profile.tasks,
            work: profile.work.map(Into::into),
            cpu: profile.cpu.map(Into::into),
            bytes: profile.bytes.map(Into::into),
            inputs: profile.inputs.map(Into::into),
        });
        Ok(serde_json::to_value(ProfileFields {
            tasks: self.0.tasks.len(),
            classes: classes.collect(),
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        let mut rows = Vec::new();
        for (class, profile) in profile(self.0) {
            for (quantity, statistics) in quantities(&profile) {
                rows.push(ProfileRow {
                    class: class.clone(),
                    tasks: profile.tasks,
                    quantity,
                    statistics: statistics.into(),
                });
            }
        }
        csv_rows(&rows)
    }
}

fn quantities(profile: &ClassProfile) -> impl Iterator<Item = (&'static str, Statistics)> {
    let quantities = [
        ("work", profile.work),
        ("cpu", profile.cpu),
        ("bytes", profile.bytes),
        ("inputs", profile.inputs),
    ];
    let quantities = quantities.into_iter();
    quantities.filter_map(|(name, statistics)| Some((name, statistics?)))
}
