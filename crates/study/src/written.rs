//! Files of runs and deltas, as other tools read them.

use std::io::{self, Write};

use lapwing_model::{Better, Level};
use lapwing_stats::deltas::{DeltaPairing, MeasuredSets};

use crate::data::StudyData;
use crate::factor::StudyFactor;
use crate::scale::StudyScale;

/// Writes a row per instance, which the importer of runs reads again: a column per factor (0 and 1 for absent and
/// present), the time as a Unix time stamp, and the metric with its unit; and a row without a cost per setting that failed
/// every time. Returns the number of rows.
///
/// # Errors
/// When it cannot be written.
pub fn write_runs(data: &StudyData, separator: u8, out: &mut impl Write) -> io::Result<u64> {
    let mut csv = writer(separator, out);
    let cost = CostColumn::of(data);
    let names = data.factors.iter().map(factor_title);
    csv.write_record(names.chain(["unix_time".to_owned(), cost.title]))?;
    for own in &data.instances {
        let levels = own.levels.iter().zip(&data.factors);
        let levels = levels.map(|(level, factor)| level_text(&factor.levels[*level]));
        // The cost of a rate is its inverse.
        let value = digits(data.metric.cost(own.cost) / cost.unit);
        csv.write_record(levels.chain([own.time.to_string(), value]))?;
    }
    let latest = data.instances.last().map_or(0.0, |own| own.time);
    // A setting that failed every time has no cost.
    for set in &data.failed {
        let levels = data.levels_of(*set);
        let levels = levels
            .iter()
            .zip(&data.factors)
            .map(|(level, factor)| level_text(&factor.levels[*level]));
        csv.write_record(levels.chain([latest.to_string(), "NA".to_owned()]))?;
    }
    csv.flush()?;
    Ok((data.instances.len() + data.failed.len()) as u64)
}

fn level_text(level: &Level) -> String {
    match level {
        Level::Bool(present) => u8::from(*present).to_string(),
        other => other.to_string(),
    }
}

/// Writes a row per pair of an instance without a treatment and one with it: the treatment, the costs before and
/// after, their difference, and for every treatment whether it was present before. Returns the number of rows.
///
/// # Errors
/// When it cannot be written.
pub fn write_deltas(data: &StudyData, separator: u8, out: &mut impl Write) -> io::Result<u64> {
    let mut csv = writer(separator, out);
    let unit = CostColumn::of(data).unit;
    let names = data.treatments.iter().map(|own| own.name.as_str());
    csv.write_record(
        ["treatment", "before", "after", "delta"]
            .into_iter()
            .chain(names),
    )?;
    let sets = MeasuredSets::new(&data.sets(StudyScale::Time));
    let deltas = sets.map_or_else(Vec::new, |sets| sets.deltas(DeltaPairing::AllPairs));
    for delta in &deltas {
        let numbers = [delta.before, delta.after, delta.change()].map(|value| digits(value / unit));
        let name = data.treatments[delta.factor].name.clone();
        let present = (0..data.treatments.len()).map(|at| (delta.set >> at & 1).to_string());
        csv.write_record(std::iter::once(name).chain(numbers).chain(present))?;
    }
    csv.flush()?;
    Ok(deltas.len() as u64)
}

fn writer<W: Write>(separator: u8, out: W) -> csv::Writer<W> {
    csv::WriterBuilder::new()
        .delimiter(separator)
        .from_writer(out)
}

/// Returns the title of a factor's column, with the base unless it is the first level in order.
fn factor_title(factor: &StudyFactor) -> String {
    let usual = StudyFactor::new(factor.name.clone(), factor.levels.clone());
    match factor.levels.first() {
        Some(base) if usual.levels.first() != Some(base) => {
            format!("{} (base {base})", factor.name)
        }
        Some(_) | None => factor.name.clone(),
    }
}

/// The column of the metric.
struct CostColumn {
    title: String,
    /// What one of the column is worth.
    unit: f64,
}

impl CostColumn {
    /// Returns microseconds for a time per something, as the published tables of Parsl have it, else the metric in
    /// its base unit.
    fn of(data: &StudyData) -> Self {
        let metric = &data.metric;
        if let ("s", false, Some(what)) = (
            metric.unit.as_str(),
            metric.is_rate,
            metric.name.strip_prefix("time_per_"),
        ) {
            return Self {
                title: format!("usec_per_{what}"),
                unit: 1e-6,
            };
        }
        let unit = match (metric.is_rate, metric.unit.as_str()) {
            (true, unit) => format!("1/{unit}"),
            (false, "") => "1".to_owned(),
            (false, unit) => unit.to_owned(),
        };
        let better = if metric.is_rate {
            Some(Better::Higher)
        } else {
            metric.better
        };
        let direction = match (better, unit.ends_with("/s")) {
            (Some(Better::Higher), false) => ", higher is better",
            (Some(Better::Lower), true) => ", lower is better",
            (Some(_) | None, _) => "",
        };
        Self {
            title: format!("{} ({unit}{direction})", metric.name),
            unit: 1.0,
        }
    }
}

/// Returns a number with 12 significant digits at most, without binary noise.
fn digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.11e}").parse().unwrap_or(value);
    rounded.to_string()
}
