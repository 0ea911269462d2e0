//! `--plot`: iteration against time with the first steady iteration marked.

use std::path::Path;

use lapwing_analyse::explain::BenchmarkBurnIn;
use lapwing_show::answers::burn_in::BurnInAnswer;
use lapwing_show::chart::save_page;
use lapwing_show::writing::Answer;

use crate::error::CliError;
use crate::options::extension;

/// Maximum number of charts on a page.
const MOST_CHARTS: usize = 200;
/// More names than this are a number.
const SHOWN: usize = 8;

/// Refuses more benchmarks than a file of that format can show.
pub fn check_number(path: &Path, rows: &[BenchmarkBurnIn]) -> Result<(), CliError> {
    let is_page = extension(path) == "html";
    let most = if is_page { MOST_CHARTS } else { 1 };
    if rows.len() <= most {
        return Ok(());
    }
    let mut names: Vec<&str> = rows
        .iter()
        .take(SHOWN)
        .map(|row| row.benchmark.as_str())
        .collect();
    if rows.len() > SHOWN {
        names.push("…");
    }
    let names = names.join(", ");
    let error = CliError::input(format!(
        "`{}` can show {}, but there are {}: {names}",
        path.display(),
        if is_page {
            format!("{most} benchmarks")
        } else {
            "one benchmark".to_owned()
        },
        rows.len()
    ));
    Err(error.hint(if is_page {
        "choose some of them with --benchmark"
    } else {
        "choose one with --benchmark, or write all of them to an .html file"
    }))
}

/// Draws the charts.
pub fn save(path: &Path, answer: &BurnInAnswer) -> Result<(), CliError> {
    match answer.charts().as_slice() {
        [chart] => chart.save(path)?,
        charts => save_page(path, "When benchmarks get steady", charts)?,
    }
    Ok(())
}
