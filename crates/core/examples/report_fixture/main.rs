//! Writes a report of made-up measurements into a directory, for trying its pages.
//!
//! `report_fixture DIRECTORY` writes a small zoo of everything odd;
//! `report_fixture DIRECTORY BENCHMARKS RUNS ITERATIONS` writes a large regular one and says
//! how long it took.

mod synthetic;
mod zoo;

use std::path::Path;
use std::time::Instant;

use lapwing_core::show::report::{self, Options, Ratio, ReportWriter, Statistics};
use synthetic::{Recipe, Sessions};

/// The 97.5 % quantiles of Student's t for 1 to 10 degrees of freedom.
const STUDENT: [f64; 10] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
];

fn mean_and_error(values: &[f64]) -> Option<(f64, f64)> {
    let count = f64::from(
        u32::try_from(values.len())
            .ok()
            .filter(|&count| count > 1)?,
    );
    let mean = values.iter().sum::<f64>() / count;
    let variance = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / (count - 1.0);
    let quantile = STUDENT[(values.len() - 2).min(9)];
    Some((mean, quantile * (variance / count).sqrt()))
}

fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let (mean, error) = mean_and_error(values)?;
    Some((mean - error, mean + error))
}

fn ratio(baseline: &[f64], candidate: &[f64]) -> Option<Ratio> {
    if baseline.len() < 3 || candidate.len() < 3 {
        return None;
    }
    let ((below, below_error), (above, above_error)) =
        (mean_and_error(baseline)?, mean_and_error(candidate)?);
    let value = above / below;
    let error = value * (above_error / above).hypot(below_error / below);
    Some(Ratio {
        value,
        lower: value - error,
        upper: value + error,
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = Options {
        title: "Synthetic report".to_owned(),
        made: "Made-up measurements, for trying the report.".to_owned(),
        statistics: Statistics { interval, ratio },
    };
    let mut sessions = Sessions::default();
    match arguments.as_slice() {
        [directory] => {
            let zoo = zoo::zoo();
            let benchmarks = zoo
                .iter()
                .map(|recipe| synthetic::measure(recipe, &mut sessions));
            report::write(benchmarks, Path::new(directory), options)?;
        }
        [directory, benchmarks, runs, iterations] => {
            let mut writer = ReportWriter::create(Path::new(directory), options)?;
            let mut seconds = 0.0;
            for number in 0..benchmarks.parse::<u32>()? {
                let data = synthetic::measure(
                    &Recipe {
                        id: format!("benchmarks/test_{number}.py::test"),
                        sessions: runs.parse()?,
                        instances: 1,
                        iterations: iterations.parse()?,
                        burn_in: 0,
                        metrics: 1,
                        ..Recipe::default()
                    },
                    &mut sessions,
                );
                let begin = Instant::now();
                writer.add(data)?;
                seconds += begin.elapsed().as_secs_f64();
            }
            let begin = Instant::now();
            writer.finish()?;
            seconds += begin.elapsed().as_secs_f64();
            #[expect(clippy::print_stderr, reason = "the measured time is what it is for")]
            {
                eprintln!("the report took {seconds:.2} s");
            }
        }
        _ => return Err("usage: report_fixture DIRECTORY [BENCHMARKS RUNS ITERATIONS]".into()),
    }
    Ok(())
}
