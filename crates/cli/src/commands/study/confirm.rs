//! `lapwing study confirm`: measures the recommended setting anew.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use lapwing_measure::suite::parse_duration;
use lapwing_model::text::counted;
use lapwing_show::answers::study::{ConfirmationAnswer, FEWEST_INSTANCES};
use lapwing_study::{
    CONFIRMATION, Recommendation, StudyConfirmation, StudyData, StudyFinding, StudyScale, findings,
    is_round,
};

use super::options::{ReadStudy, StudyDataOptions, existing_store};
use super::rounds::StudyRounds;
use super::suite::StudySuite;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context};

/// Measure the recommended setting anew, against the base and the next best setting
///
/// The setting that `lapwing study findings` recommends was chosen by the results, so that part of its gain may be luck.
/// This measures it, the base and the next best setting in turn, and judges by these fresh instances alone.
#[derive(Debug, Args)]
pub struct StudyConfirm {
    /// Suite file [default: lapwing.toml]
    #[arg(id = "studied_suite", value_name = "SUITE")]
    suite: Option<PathBuf>,
    /// Instances of each setting
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(FEWEST_INSTANCES as i64..=100_000), default_value_t = 8)]
    instances: u32,
    /// Iterations per instance, after burn-in [default: the suite's]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    iterations: Option<u32>,
    /// Kill an iteration that takes longer than this
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    time_limit: Option<Duration>,
    /// Seed of the order of measuring
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
    /// Name of the session
    #[arg(long, value_name = "NAME", default_value = "confirm")]
    name: String,
    #[command(flatten)]
    data: StudyDataOptions,
    #[command(flatten)]
    answer: AnswerOptions,
}

impl StudyConfirm {
    /// Measures the settings, and shows how they compare.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let suite = StudySuite::load(self.suite.as_deref())?;
        let filter = self.data.filters.filter()?;
        let ReadStudy { data, .. } = self.data.read_with_notes(filter.clone(), context)?;
        if data.suite != suite.suite.name {
            return Err(CliError::input(format!(
                "the study of `{}` is of the suite `{}`, and {} has `{}`",
                data.benchmark,
                data.suite,
                suite.path.display(),
                suite.suite.name
            ))
            .hint("a suite file with the same name and factors can measure its settings"));
        }
        let (scale, recommended) = recommendation(&data)?;
        let confirmation = StudyConfirmation::new(&data, &suite.factors(&[])?, &recommended)
            .map_err(CliError::input)?;
        let path = suite.path.display().to_string();
        let named = (suite.suite.name.as_str(), path.as_str());
        let design = confirmation.design(named, self.instances, self.seed)?;
        if !context.quiet {
            context.terminal.say(&format!(
                "{} in turn, {} of each: {}",
                counted(design.configurations.len(), "setting"),
                counted(self.instances, "instance"),
                design
                    .configurations
                    .iter()
                    .map(|it| it.name.as_str())
                    .collect::<Vec<_>>()
                    .join("; ")
            ));
        }
        let mut rounds = StudyRounds {
            suite_file: suite.path.clone(),
            benchmark: vec![data.benchmark.clone()],
            iterations: self.iterations,
            time_limit: self.time_limit,
            name: Some(self.name.clone()),
            ..StudyRounds::default()
        };
        let begun = Timestamp::now();
        if rounds.measure(&design, CONFIRMATION, context)? {
            context
                .terminal
                .say("interrupted: the same command measures anew");
            return Ok(ExitStatus::Interrupted);
        }
        let store = existing_store(context)?;
        let named = (data.suite.as_str(), data.benchmark.as_str());
        let rules = self.data.cleaning.rules()?;
        let fresh =
            StudyData::read_instances(store.as_ref(), &filter, named, &rules, |instance| {
                is_round(instance, CONFIRMATION) && instance.session.started >= begun
            })?;
        let fresh = fresh.ok_or_else(|| {
            CliError::not_enough("no fresh instance has a usable value")
                .hint("`lapwing list runs` shows why they failed")
        })?;
        let answer = ConfirmationAnswer {
            result: confirmation.result(&fresh),
            expected: (
                scale,
                recommended.beside_base.change,
                recommended.beside_base.interval,
            ),
        };
        context.show(&answer, &self.answer)
    }
}

/// Returns the setting that the findings recommend, and the scale of their model.
fn recommendation(data: &StudyData) -> Result<(StudyScale, Recommendation), CliError> {
    let found = findings(data, None);
    let recommended = found
        .findings
        .into_iter()
        .find_map(|finding| match finding {
            StudyFinding::Setting(own) => Some(own),
            _other => None,
        });
    let recommended = recommended.ok_or_else(|| {
        CliError::not_enough(format!(
            "the findings about `{}` recommend no setting: none is expected to be better than the base",
            data.benchmark
        ))
        .hint("`lapwing study findings` says what to measure next")
    })?;
    Ok((found.scale, recommended))
}
