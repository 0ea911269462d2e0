//! Files of runs and deltas, as other tools read them.

use std::io::{self, Write};

use lapwing_model::Level;
use lapwing_stats::deltas::{DeltaPairing, MeasuredSets};

use crate::data::StudyData;
use crate::scale::StudyScale;

/// Writes a row per instance: a column per factor (0 and 1 for absent and present), the time as a Unix time stamp, and the cost,
/// of times in microseconds.
///
/// # Errors
/// When it cannot be written.
pub fn write_runs(data: &StudyData, separator: u8, out: &mut impl Write) -> io::Result<()> {
    let mut csv = writer(separator, out);
    let (title, factor) = cost_column(data);
    let names = data.factors.iter().map(|factor| factor.name.as_str());
    csv.write_record(names.chain(["unix_time", title.as_str()]))?;
    for own in &data.instances {
        let levels = own.levels.iter().zip(&data.factors);
        let levels = levels.map(|(level, factor)| match &factor.levels[*level] {
            Level::Bool(present) => u8::from(*present).to_string(),
            other => other.to_string(),
        });
        let rest = [own.time.to_string(), digits(own.cost / factor)];
        csv.write_record(levels.chain(rest))?;
    }
    csv.flush()
}

/// Writes a row per delta: the treatment that is added, the costs before and after, their difference, and for every treatment whether it was present before.
///
/// With other pairings than all pairs of runs the numbers of runs follow.
///
/// # Errors
/// When it cannot be written.
pub fn write_deltas(
    data: &StudyData,
    scale: StudyScale,
    pairing: DeltaPairing,
    separator: u8,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut csv = writer(separator, out);
    let factor = match scale {
        StudyScale::Time => cost_column(data).1,
        StudyScale::Rate | StudyScale::Log => 1.0,
    };
    let counts = (pairing != DeltaPairing::AllPairs).then_some(["runs_before", "runs_after"]);
    let names = data.treatments.iter().map(|own| own.name.as_str());
    let head = ["treatment", "before", "after", "delta"].into_iter();
    csv.write_record(head.chain(names).chain(counts.into_iter().flatten()))?;
    let sets = MeasuredSets::new(&data.sets(scale));
    for delta in sets.iter().flat_map(|sets| sets.deltas(pairing)) {
        let numbers =
            [delta.before, delta.after, delta.change()].map(|value| digits(value / factor));
        let name = data.treatments[delta.factor].name.clone();
        let present = (0..data.treatments.len()).map(|at| (delta.set >> at & 1).to_string());
        let runs = delta.runs.map(|count| count.to_string());
        let runs = counts.map(|_| runs).into_iter().flatten();
        csv.write_record(
            std::iter::once(name)
                .chain(numbers)
                .chain(present)
                .chain(runs),
        )?;
    }
    csv.flush()
}

fn writer<W: Write>(separator: u8, out: W) -> csv::Writer<W> {
    csv::WriterBuilder::new()
        .delimiter(separator)
        .from_writer(out)
}

/// Returns the title of the column of costs, and what one of its units is worth.
fn cost_column(data: &StudyData) -> (String, f64) {
    let name = &data.metric.name;
    match data.metric.unit.as_str() {
        "s" => match name.strip_prefix("time_per_") {
            Some(what) => (format!("usec_per_{what}"), 1e-6),
            None => ("usec".to_owned(), 1e-6),
        },
        _ => (name.clone(), 1.0),
    }
}

/// Returns a number with 12 significant digits at most, without binary noise.
fn digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.11e}").parse().unwrap_or(value);
    rounded.to_string()
}
