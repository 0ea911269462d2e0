//! Notes on burn-in: problems, and advice.

use lapwing_analyse::clean::SteadyFrom;
use lapwing_analyse::explain::BenchmarkBurnIn;
use lapwing_model::text::{counted, first_names, grouped, shell_word};
use lapwing_stats::steady::{Class, ITERATIONS_TO_TELL};

use crate::percent;
use crate::writing::Note;

/// More names than this are a number.
const SHOWN: usize = 5;

/// The use of the starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseOfStarts {
    /// They are only shown.
    Shown,
    /// They are written into a file or a suite as well.
    Written,
}

/// Returns the notes, most important first.
pub fn burn_in_notes(rows: &[BenchmarkBurnIn], use_of_starts: UseOfStarts) -> Vec<Note> {
    let notes = [
        unsteady(rows),
        mostly_unsteady(rows),
        partly_unsteady(rows),
        too_short(rows),
        not_used(rows),
        not_positive(rows),
        shortened(rows),
        wandering(rows),
        not_worth_it(rows),
        planned_too_short(rows, use_of_starts),
    ];
    notes.into_iter().flatten().collect()
}

/// Returns names in a sentence: `a, b, and 3 more`.
fn names<'a>(
    all: impl IntoIterator<Item = &'a BenchmarkBurnIn>,
    more: impl Fn(&BenchmarkBurnIn) -> String,
) -> String {
    let named = |row: &BenchmarkBurnIn| format!("{}{}", row.benchmark, more(row));
    first_names(all.into_iter().map(named), SHOWN)
}

/// Returns the wanted rows; `None` if there are none.
fn those(
    rows: &[BenchmarkBurnIn],
    wanted: impl Fn(&BenchmarkBurnIn) -> bool,
) -> Option<Vec<&BenchmarkBurnIn>> {
    let found: Vec<&BenchmarkBurnIn> = rows.iter().filter(|row| wanted(row)).collect();
    (!found.is_empty()).then_some(found)
}

fn unsteady(rows: &[BenchmarkBurnIn]) -> Option<Note> {
    let never = those(rows, |row| row.start.is_none())?;
    let name = shell_word(&never.first()?.benchmark);
    let number = never.len();
    let text = format!(
        "never steady, fix or retire: {}; `lapwing burn-in --benchmark {name} --plot FILE.html` \
         shows it",
        names(never, |_| String::new())
    );
    Some(Note::marked("never_steady", text).with("benchmarks", number))
}

/// Returns the number of instances that never reach a steady state.
fn never_of(row: &BenchmarkBurnIn) -> String {
    let never = row.count(Class::NoSteadyState);
    let all = row.instances.len() - row.not_used();
    format!(" ({} of {})", grouped(never), grouped(all))
}

fn mostly_unsteady(rows: &[BenchmarkBurnIn]) -> Option<Note> {
    let mostly = those(rows, BenchmarkBurnIn::is_mostly_unsteady)?;
    let number = mostly.len();
    let text = format!(
        "most instances never reach a steady state, and the start is from the others; fix or retire: {}",
        names(mostly, never_of)
    );
    Some(Note::marked("mostly_unsteady", text).with("benchmarks", number))
}

fn partly_unsteady(rows: &[BenchmarkBurnIn]) -> Option<Note> {
    let partly = those(rows, |row| {
        let never = row.count(Class::NoSteadyState);
        row.start.is_some() && never > 0 && !row.is_mostly_unsteady()
    })?;
    let number = partly.len();
    let text = format!(
        "some instances never reach a steady state, but are included: {}",
        names(partly, never_of)
    );
    Some(Note::marked("partly_unsteady", text).with("benchmarks", number))
}

fn wandering(rows: &[BenchmarkBurnIn]) -> Option<Note> {
    let wander = those(rows, |row| {
        row.source == BenchmarkBurnIn::FOUND && row.drifts()
    })?;
    let number = wander.len();
    let text = format!(
        "instances drift in different directions without a common warm-up: {}; measure more instances, not more burn-in",
        names(wander, |_| String::new())
    );
    Some(Note::marked("drifting", text).with("benchmarks", number))
}

/// A burn-in is expensive above this share of the time, and has little effect if the bias without
/// it is smaller than this.
const DEAR: f64 = 0.1;
const SMALL_BIAS: f64 = 0.01;

fn not_worth_it(rows: &[BenchmarkBurnIn]) -> Option<Note> {
    let dear = those(rows, |row| {
        row.source == BenchmarkBurnIn::FOUND
            && row.bias_without.is_some_and(|it| it.abs() < SMALL_BIAS)
            && row
                .effect
                .as_ref()
                .is_some_and(|it| it.cost > DEAR * row.total)
            && row.start.is_some()
    })?;
    let of = |row: &BenchmarkBurnIn| {
        let cost = row.effect.as_ref().map_or(0.0, |it| it.cost);
        format!(
            " ({} of the time; without burn-in, bias is only {})",
            percent(cost / row.total),
            percent(row.bias_without.unwrap_or(0.0))
        )
    };
    let number = dear.len();
    let text = format!(
        "long burn-in with little effect on the mean: {}; --max-cost shortens it",
        names(dear, of)
    );
    Some(Note::marked("little_effect", text).with("benchmarks", number))
}

fn too_short(rows: &[BenchmarkBurnIn]) -> Option<Note> {
    let short = those(rows, |row| row.count(Class::TooShort) > row.not_used())?;
    let of = |row: &BenchmarkBurnIn| {
        let fewest = row.fewest_iterations() as u64;
        format!(" ({})", counted(fewest, "iteration"))
    };
    let number = short.len();
    let fewest = short.iter().map(|row| row.fewest_iterations()).min();
    let text = format!(
        "too few iterations: {}; needs at least {ITERATIONS_TO_TELL} per instance, burn-in included",
        names(short, of)
    );
    Some(
        Note::marked("too_few_iterations", text)
            .with("benchmarks", number)
            .with("fewest_iterations", fewest)
            .with("required_iterations", ITERATIONS_TO_TELL),
    )
}

fn not_used(rows: &[BenchmarkBurnIn]) -> Option<Note> {
    let short = those(rows, |row| row.not_used() > 0)?;
    let of = |row: &BenchmarkBurnIn| {
        let (short, all) = (row.not_used() as u64, row.instances.len() as u64);
        format!(" ({} of {})", grouped(short), counted(all, "instance"))
    };
    let number = short.len();
    let text = format!(
        "instances ignored for having fewer than half the iterations of the longest: {}",
        names(short, of)
    );
    Some(Note::marked("instances_ignored", text).with("benchmarks", number))
}

fn not_positive(rows: &[BenchmarkBurnIn]) -> Option<Note> {
    let of = those(rows, |row| {
        row.instances.iter().any(|it| it.class.is_none())
    })?;
    let number = of.len();
    let text = format!(
        "instances with values that are not above zero are excluded: {}",
        names(of, |_| String::new())
    );
    Some(Note::marked("not_above_zero", text).with("benchmarks", number))
}

fn shortened(rows: &[BenchmarkBurnIn]) -> Option<Note> {
    let short = those(rows, BenchmarkBurnIn::is_shortened)?;
    let of = |row: &BenchmarkBurnIn| {
        let (start, wanted) = (row.start.unwrap_or(0), row.wanted.unwrap_or(0));
        let bias = row.effect.as_ref().map_or(0.0, |it| it.remaining_bias);
        format!(" ({start} instead of {wanted}, bias {})", percent(bias))
    };
    let number = short.len();
    let text = format!(
        "shorter than most instances need, because of its cost or because too few iterations would be left: {}",
        names(short, of)
    );
    Some(Note::marked("shortened", text).with("benchmarks", number))
}

fn planned_too_short(rows: &[BenchmarkBurnIn], use_of_starts: UseOfStarts) -> Option<Note> {
    let planned = |row: &BenchmarkBurnIn| row.planned.unwrap_or(u32::MAX);
    let short = those(rows, |row| {
        row.known_start().is_some_and(|start| start > planned(row))
    })?;
    let of = |row: &BenchmarkBurnIn| format!(" ({} → {})", planned(row), row.start.unwrap_or(0));
    let next = match use_of_starts {
        UseOfStarts::Shown => {
            "; --update-suite writes these to the suite, -o to a file for --clean burn_in_file=FILE"
        }
        UseOfStarts::Written => "",
    };
    let number = short.len();
    let text = format!(
        "the planned burn-in is too short: {}{next}",
        names(short, of)
    );
    Some(Note::marked("planned_too_short", text).with("benchmarks", number))
}

/// Returns why a benchmark has no known start; `None` if it has one.
pub fn why_not_written(row: &BenchmarkBurnIn) -> Option<&'static str> {
    match row.steady_from() {
        SteadyFrom::Index(_) => None,
        SteadyFrom::Never => Some("never reaches a steady state"),
        SteadyFrom::Recorded | SteadyFrom::Unknown => Some("too few iterations"),
    }
}
