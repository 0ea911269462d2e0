//! `lapwing show`: the results of a session, as `lapwing run` printed them.

use std::path::{Path, PathBuf};

use clap::Args;
use lapwing_measure::ancestry;
use lapwing_measure::session::recorded_plan;
use lapwing_model::Id;
use lapwing_model::text::counted;
use lapwing_record::{Filter, Store, StoreError};
use lapwing_show::writing::{AnswerFormat, NextStep};

use super::import::{ReadingOptions, no_file};
use super::run::{RunReport, session_answer};
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, ExportOptions, check_plot};
use crate::store::open_for_reading;

/// Show the results of a session again
///
/// These are the results that `lapwing run` printed when the session ended. Sessions of the pytest
/// plugin and imported ones are shown alike.
#[derive(Debug, Args)]
pub struct ShowCommand {
    /// Name or id of the session, a commit, or a file with results [default: the latest session]
    session: Option<String>,
    #[command(flatten, next_help_heading = "Files")]
    reading: ReadingOptions,
    /// Metric to judge by [default: wall_time]
    #[arg(long, value_name = "METRIC")]
    metric: Option<String>,
    #[command(flatten)]
    answer: AnswerOptions,
    /// Write a chart to this .svg, .png or .html file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    export: ExportOptions,
}

impl ShowCommand {
    /// Reads the session and shows its results.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        check_plot(self.plot.as_deref())?;
        self.export.check()?;
        let Some(path) = self.session.as_ref().map(PathBuf::from) else {
            return self.show(context);
        };
        if path != Path::new("-") && !path.exists() {
            let looks_like_file = path.components().count() > 1 || path.extension().is_some();
            return self.show(context).map_err(|error| match looks_like_file {
                true => no_file(&path),
                false => error,
            });
        }
        let files = context.files(&[path], &self.reading.options())?;
        let of_files = Self {
            session: None,
            ..self
        };
        of_files.show(&files.context(context))
    }

    fn show(self, context: &Context) -> Result<ExitStatus, CliError> {
        let store = open_for_reading(context)?;
        let found = match self.session.as_deref() {
            Some(text) => store.catalogue().session(text).or_else(|error| {
                match session_of_revision(&store, text)? {
                    Some(session) => store.catalogue().session(&session.to_string()),
                    None => Err(error),
                }
            })?,
            None => store.catalogue().latest_session()?.ok_or_else(|| {
                CliError::not_enough("nothing was measured yet")
                    .hint("`lapwing run -- COMMAND` measures a command")
            })?,
        };
        let state = store.catalogue().session_state(found.id)?;
        let plan = recorded_plan(&state);
        let session = &state.session;
        let metric = self.metric.as_deref();
        let stored = plan.stop_early.as_ref().and_then(|it| it.metric.as_deref());
        let effect = plan.stop_early.as_ref().and_then(|it| it.smallest_effect);
        let mut answer = session_answer(&store, session, &plan, (metric.or(stored), effect))?;
        answer.all_figures = context.verbose;
        if let Some(metric) = metric
            && !answer.results.is_empty()
            && !answer.results.known_metrics().contains(metric)
        {
            let known: Vec<String> = answer.results.known_metrics().into_iter().collect();
            let error = CliError::input(format!("the session has no metric `{metric}`"));
            let hint = format!("the metrics are {}", known.join(", "));
            return Err(error.hint(hint).candidates(known));
        }
        answer.next = vec![NextStep::new(
            format!("{} report", context.program()),
            "shows more",
        )];
        if context.format == AnswerFormat::Text && !context.quiet {
            let name = session.name.as_ref();
            context.terminal.say(&format!(
                "session `{}` of {}: suite `{}`, {}, measured by {}",
                name.map_or_else(|| session.id.to_string(), Clone::clone),
                session.started.strftime("%Y-%m-%d %H:%M UTC"),
                session.suite,
                counted(state.instances.len(), "instance"),
                session.tool
            ));
        }
        let report = RunReport {
            answer: self.answer,
            export: self.export,
            plot: self.plot,
            ..RunReport::default()
        };
        report.show(&answer, context)?;
        if answer.results.is_empty() {
            Ok(ExitStatus::NotEnough)
        } else {
            Ok(ExitStatus::Fine)
        }
    }
}

/// Returns the latest session with results of the commit that a revision means here.
fn session_of_revision(store: &Store, text: &str) -> Result<Option<Id>, StoreError> {
    let revision = text.strip_prefix("commit:").unwrap_or(text);
    let Some(commit) = ancestry(Path::new("."), revision).into_iter().next() else {
        return Ok(None);
    };
    let runs = store.catalogue().runs(&Filter::default())?;
    let mut runs = runs.into_iter().map(|it| it.head);
    Ok(runs
        .find(|it| it.commit.as_ref() == Some(&commit))
        .map(|it| it.session))
}
