//! Writes a report of made-up measurements into a directory, for trying its pages.
//!
//! `report_fixture DIRECTORY` writes a small zoo of everything odd;
//! `report_fixture DIRECTORY BENCHMARKS RUNS ITERATIONS` writes a large regular one and says
//! how long it took.

mod compared;
mod synthetic;
mod zoo;

use std::path::Path;
use std::time::Instant;

use lapwing_show::report::{ReportOptions, ReportWriter};
use synthetic::{Recipe, Sessions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = ReportOptions {
        title: "Synthetic report".to_owned(),
        made: "Made-up measurements, for trying the report.".to_owned(),
        rules: lapwing_analyse::clean::CleaningRules::default(),
        metrics: Vec::new(),
        detect: lapwing_show::report::DetectionTarget::default(),
        raw: true,
    };
    let mut sessions = Sessions::default();
    match arguments.as_slice() {
        [directory] => {
            let zoo = zoo::zoo();
            let benchmarks: Vec<_> = zoo
                .iter()
                .map(|recipe| synthetic::measure(recipe, &mut sessions))
                .collect();
            let mut writer = ReportWriter::create(Path::new(directory), options)?;
            writer.comparisons(compared::view(&benchmarks));
            for data in benchmarks {
                writer.add(vec![data])?;
            }
            writer.finish()?;
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
                writer.add(vec![data])?;
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
