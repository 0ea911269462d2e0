//! `lapwing study compare`: which effects carry over to another environment or workload.

use clap::Args;
use lapwing_analyse::sample::{BenchmarkData, SampleFilter, SideSpec};
use lapwing_model::text::first_names;
use lapwing_record::InstanceData;
use lapwing_show::answers::compare::unused_note;
use lapwing_show::answers::study::{ComparedStudies, StudyAnswer};
use lapwing_stats::Confidence;
use lapwing_study::{StudyCarryOver, StudyData, StudyScale, only_named_metric};

use super::options::StudyOptions;
use crate::comparing::{FoundSides, parse_side};
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, check_plot};

/// Compare the same study in two environments or workloads: which effects carry over
///
/// A side is `benchmark:NAME` (another workload), or one of `lapwing compare`: `session:NAME`,
/// `version:2.1`, `commit:ab12`, `file:other.db` (another store or file), or conditions such as
/// `since 2w`. By default on logarithms, so that effects are percentages.
#[derive(Debug, Args)]
pub struct StudyCompare {
    /// The first side
    #[arg(value_name = "SIDE", value_parser = parse_study_side)]
    first: StudySide,
    /// The second side
    #[arg(value_name = "SIDE", value_parser = parse_study_side)]
    second: StudySide,
    #[command(flatten)]
    study: StudyOptions,
}

/// A side of the comparison of two studies.
#[derive(Debug, Clone)]
enum StudySide {
    Benchmark(String),
    Runs(SideSpec),
}

fn parse_study_side(text: &str) -> Result<StudySide, String> {
    match text.strip_prefix("benchmark:") {
        Some(name) if !name.is_empty() => Ok(StudySide::Benchmark(name.to_owned())),
        Some(_) | None => parse_side(text).map(StudySide::Runs),
    }
}

impl StudyCompare {
    /// Shows the effects of both sides.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        check_plot(self.study.plot.as_deref())?;
        let studies = self.read(context)?;
        let scale = self.study.scale.unwrap_or(StudyScale::Log);
        let [first, second] = &studies.data;
        if scale != StudyScale::Log && first.metric.unit != second.metric.unit {
            return Err(CliError::input(format!(
                "the sides have different units, `{}` and `{}`",
                first.metric.unit, second.metric.unit
            ))
            .hint("--scale log compares percentages"));
        }
        if first.metric.better != second.metric.better {
            return Err(CliError::input(format!(
                "more of `{}` is better on one side and worse, or of unknown direction, on the other",
                first.metric.name
            ))
            .hint("compare a metric of the same direction on both sides (--metric)"));
        }
        let carry_over = StudyCarryOver::new([first, second], scale, Confidence::P95);
        let carry_over = carry_over.map_err(CliError::not_enough)?;
        if carry_over.effects.is_empty() {
            return Err(
                CliError::not_enough("no effect can be estimated on both sides")
                    .hint("both have to vary the same factors from the same base"),
            );
        }
        let answer = StudyAnswer::carry_over(&studies, scale, &carry_over)?;
        self.study.show(&answer, &[], &[], context)
    }

    fn read(&self, context: &Context) -> Result<ComparedStudies, CliError> {
        match (&self.first, &self.second) {
            (StudySide::Benchmark(one), StudySide::Benchmark(other)) => {
                let mut notes = Vec::new();
                let mut read = |name: &String| -> Result<StudyData, CliError> {
                    let filter = SampleFilter {
                        benchmarks: vec![name.clone()],
                        ..self.study.data.filters.filter()?
                    };
                    let study = self.study.data.read_with_notes(filter, context)?;
                    notes.extend(study.notes);
                    Ok(study.data.without(&self.study.without)?)
                };
                let data = [read(one)?, read(other)?];
                let names = data.each_ref().map(|data| data.benchmark.clone());
                let [one, other] = &data;
                if one.benchmark == other.benchmark && one.suite == other.suite {
                    return Err(CliError::input(format!(
                        "both sides are benchmark `{}`",
                        one.benchmark
                    )));
                }
                Ok(ComparedStudies {
                    names,
                    data,
                    notes,
                })
            }
            (StudySide::Runs(one), StudySide::Runs(other)) => {
                self.of_runs(&[one.clone(), other.clone()], context)
            }
            (_, _) => Err(CliError::input(
                "one side is a benchmark and the other one is not",
            )
            .hint("name two benchmarks, or two sides such as sessions, of the benchmark of --benchmark")),
        }
    }

    fn of_runs(&self, specs: &[SideSpec], context: &Context) -> Result<ComparedStudies, CliError> {
        let options = &self.study.data;
        let judging = options.cleaning.judging()?;
        let filter: SampleFilter = options.filters.filter()?;
        let found = FoundSides::find(specs, &filter, &judging, context)?;
        // Levels differ between the settings of a study, not between its sides.
        let levels = "share no level";
        let notes = found.notes(&filter, &judging.rules)?.into_iter();
        let notes = notes.chain(unused_note(found.unused(&judging)));
        let notes = notes.filter(|note| !note.text.contains(levels)).collect();
        let mut gathered: [Vec<BenchmarkData>; 2] = [Vec::new(), Vec::new()];
        found.sides.each_benchmark(&filter, |data, places| {
            for (side, benchmarks) in gathered.iter_mut().enumerate() {
                let is_on_side =
                    |instance: &&InstanceData| places(instance).iter().any(|it| it.side == side);
                let instances = data.instances.iter().filter(is_on_side);
                let instances: Vec<InstanceData> = instances.cloned().collect();
                if instances.iter().any(|it| !it.run.factors.is_empty()) {
                    benchmarks.push(BenchmarkData {
                        instances,
                        ..data.clone()
                    });
                }
            }
        })?;
        let metric = only_named_metric(&filter.metrics)?;
        let study = |side: usize| -> Result<StudyData, CliError> {
            let name = &found.sides.names()[side];
            match gathered[side].as_slice() {
                [data] => {
                    let data = StudyData::of(data, metric, &judging.rules)?;
                    Ok(data.without(&self.study.without)?)
                }
                [] => Err(CliError::not_enough(format!(
                    "`{name}` has no benchmark with factors"
                ))),
                several => {
                    let ids = several
                        .iter()
                        .map(|data| format!("`{}`", data.benchmark.id));
                    Err(CliError::input(format!(
                        "a study is about one benchmark, and `{name}` has several: {}",
                        first_names(ids, 10)
                    ))
                    .hint("name one with --benchmark"))
                }
            }
        };
        Ok(ComparedStudies {
            data: [study(0)?, study(1)?],
            names: [0, 1].map(|side| found.sides.names()[side].clone()),
            notes,
        })
    }
}
