//! The table of the runs of a study.

use std::io::{self, Write};

use jiff::Timestamp;
use lapwing_model::{Better, Level};
use lapwing_study::StudyData;

use crate::TableError;
use crate::sink::{Partition, TableSink};

/// Writes the instances of a study, with the levels of their factors.
///
/// # Errors
/// When the table cannot be written.
pub fn write_study<W: Write + Send, O: FnMut(&Partition) -> io::Result<W>>(
    data: &StudyData,
    sink: &mut TableSink<W, O>,
) -> Result<(), TableError> {
    let better = match data.metric.better {
        Some(Better::Lower) => "lower",
        Some(Better::Higher) => "higher",
        None => "",
    };
    let failed = data.failed.iter().map(|set| (data.levels_of(*set), None));
    let measured = data.instances.iter();
    let measured = measured.map(|own| (own.levels.clone(), Some(own)));
    for (levels, own) in measured.chain(failed) {
        sink.rows(&data.suite, String::new, 1, |row| {
            row.text(&data.suite).text(&data.benchmark);
            row.text(&data.metric.name)
                .text(&data.metric.unit)
                .text(better);
            row.whole(own.and_then(|it| i64::try_from(it.session).ok()));
            row.time(own.and_then(|it| moment(it.time)));
            row.whole(own.and_then(|it| i64::try_from(it.iterations).ok()));
            row.numbers([own.map_or(f64::NAN, |it| it.cost)].into_iter());
            for (level, factor) in levels.iter().zip(&data.factors) {
                row.text(&text(&factor.levels[*level]));
            }
        })?;
    }
    Ok(())
}

fn moment(seconds: f64) -> Option<Timestamp> {
    let since = jiff::SignedDuration::try_from_secs_f64(seconds).ok()?;
    Timestamp::from_duration(since).ok()
}

fn text(level: &Level) -> String {
    level.to_string()
}
