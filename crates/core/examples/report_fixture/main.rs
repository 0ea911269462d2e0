//! Draws every chart of made-up measurements into a directory.

mod synthetic;

use std::path::Path;

use lapwing_core::show::chart::{self, ComparedValue, HistoryPoint};
use lapwing_core::show::{Chart, Colours, Estimate, MetricSample, RunSample, Theme};

fn estimate(run: &RunSample) -> Estimate {
    let means = run.instance_means();
    let value = means.iter().sum::<f64>() / means.len() as f64;
    let half = run
        .cv()
        .map(|cv| cv * value / (means.len() as f64).sqrt() * 2.5);
    Estimate {
        value,
        lower: half.map(|h| value - h),
        upper: half.map(|h| value + h),
        size: run.size(),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("give a directory")?;
    let directory = Path::new(&directory);
    std::fs::create_dir_all(directory)?;
    let mut sessions = synthetic::Sessions::default();
    let mut rows = Vec::new();
    for (number, recipe) in synthetic::zoo().iter().enumerate().take(16) {
        let data = synthetic::measure(recipe, &mut sessions);
        let sample = MetricSample::of(&data, "wall_time");
        let mut colours = Colours::default();
        for v in sample.variants() {
            colours.number(v);
        }
        let latest = &sample.runs[sample.runs.len().saturating_sub(6)..];
        let history: Vec<HistoryPoint> = sample
            .runs
            .iter()
            .map(|run| HistoryPoint {
                session: run.time_text()[..10].to_owned(),
                label: run.label(),
                variant: run.variant.clone(),
                estimate: estimate(run),
                left_out: run.left_out().text(),
            })
            .collect();
        let charts: Vec<Chart> = vec![
            chart::iterations(&sample, latest, &colours),
            chart::instance_means(&sample, &sample.runs, &colours),
            chart::distribution(&sample, latest, &colours),
            chart::history(&sample.name, "s", &history, &colours),
        ];
        for c in charts {
            let start = std::time::Instant::now();
            std::fs::write(
                directory.join(format!("{number:02}-{}.png", c.id)),
                c.png(Theme::Light)?,
            )?;
            eprintln!("{number} {} {:?}", c.id, start.elapsed());
            if number < 3 {
                std::fs::write(
                    directory.join(format!("{number:02}-{}-dark.png", c.id)),
                    c.png(Theme::Dark)?,
                )?;
                c.save(&directory.join(format!("{number:02}-{}.svg", c.id)))?;
            }
        }
        if let Some(run) = sample.runs.last() {
            rows.push(ComparedValue {
                name: data.benchmark.id.clone(),
                colour: 0,
                estimate: estimate(run),
            });
        }
    }
    chart::comparison(&"wall_time".to_owned(), "s", &rows)
        .save(&directory.join("comparison-all.png"))?;
    chart::comparison(&"wall_time".to_owned(), "s", &rows[..5])
        .save(&directory.join("comparison-5.png"))?;
    chart::comparison(&"wall_time".to_owned(), "s", &rows[3..5])
        .save(&directory.join("comparison-2.svg"))?;
    chart::comparison(&"wall_time".to_owned(), "s", &rows[3..5])
        .save(&directory.join("comparison-2.html"))?;
    Ok(())
}
