//! `lapwing trace show profile`: what tasks of each class take, for schedulers.

use std::io;

use lapwing_model::text::counted;
use lapwing_show::trace::time;
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::{AnswerFormat, Table, TextAnswer};
use lapwing_trace::{ClassProfile, Statistics, Trace, profile};
use serde_json::{Map, Value, json};

use super::read::{ShownTrace, write};
use crate::answer::{write_csv, write_json};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// A quantity of a class.
#[derive(Debug, Default, serde::Serialize)]
struct ProfileRow {
    class: String,
    tasks: usize,
    quantity: &'static str,
    count: usize,
    sum: i64,
    mean: f64,
    min: i64,
    median: f64,
    p90: f64,
    max: i64,
}

/// Shows the profile.
pub fn act(shown: &ShownTrace, context: &Context) -> Result<ExitStatus, CliError> {
    let trace = shown.read(context)?;
    let classes = profile(&trace);
    let mut out = io::stdout().lock();
    let written = match shown.answer.format {
        AnswerFormat::Json => {
            let classes = classes.iter().map(|(class, it)| {
                let mut fields = Map::from_iter([("tasks".to_owned(), json!(it.tasks))]);
                for (quantity, statistics) in quantities(it) {
                    fields.insert(quantity.to_owned(), statistics_json(&statistics));
                }
                (class.clone(), Value::Object(fields))
            });
            write_json(&classes.collect::<Map<_, _>>(), &mut out)
        }
        AnswerFormat::Csv => {
            let rows = classes.iter().flat_map(|(class, it)| {
                quantities(it).into_iter().map(|(quantity, of)| ProfileRow {
                    class: class.clone(),
                    tasks: it.tasks,
                    quantity,
                    count: of.count,
                    sum: of.sum,
                    mean: of.mean,
                    min: of.min,
                    median: of.median,
                    p90: of.p90,
                    max: of.max,
                })
            });
            write_csv(&rows.collect::<Vec<_>>(), &mut out)
        }
        AnswerFormat::Text | AnswerFormat::Markdown => {
            drop(out);
            let answer = answer(&trace, classes.iter());
            write(answer, &[&trace], shown.answer.format, context)
        }
    };
    CliError::unless_reader_left(written)?;
    Ok(ExitStatus::Fine)
}

fn quantities(profile: &ClassProfile) -> Vec<(&'static str, Statistics)> {
    let all = [
        ("work", profile.work),
        ("cpu", profile.cpu),
        ("bytes", profile.bytes),
        ("inputs", profile.inputs),
    ];
    all.into_iter()
        .filter_map(|(name, it)| Some((name, it?)))
        .collect()
}

fn statistics_json(it: &Statistics) -> Value {
    json!({
        "count": it.count, "sum": it.sum, "mean": it.mean, "min": it.min, "median": it.median,
        "p90": it.p90, "max": it.max,
    })
}

fn answer<'p>(
    trace: &Trace,
    classes: impl Iterator<Item = (&'p String, &'p ClassProfile)>,
) -> TextAnswer {
    #[expect(clippy::cast_possible_truncation, reason = "a time in ns")]
    let of = |it: Option<Statistics>| it.map_or_else(String::new, |it| time(it.median as i64));
    let mut table = Table::new(&[
        ("class", Left),
        ("tasks", Right),
        ("median", Right),
        ("90 %", Right),
        ("longest", Right),
        ("median CPU", Right),
        ("median size", Right),
    ]);
    for (class, it) in classes {
        let size = it.bytes.map(|it| lapwing_show::quantity(it.median, "B"));
        #[expect(clippy::cast_possible_truncation, reason = "a time in ns")]
        let p90 = it.work.map_or_else(String::new, |it| time(it.p90 as i64));
        table.row(vec![
            class.clone(),
            it.tasks.to_string(),
            of(it.work),
            p90,
            it.work.map_or_else(String::new, |it| time(it.max)),
            of(it.cpu),
            size.unwrap_or_default(),
        ]);
    }
    TextAnswer {
        headline: format!(
            "time on workers of {} by class",
            counted(trace.tasks.len(), "task")
        ),
        table,
        notes: Vec::new(),
    }
}
