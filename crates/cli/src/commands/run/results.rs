//! The results of a session: reading and showing them.

use std::io::Write;

use lapwing_analyse::explain::{PlannedResults, ResultVariant, SessionResults};
use lapwing_measure::session::place_in;
use lapwing_measure::suite::{AdHoc, CommandLine, Plan};
use lapwing_model::Session;
use lapwing_record::{Store, StoreError};
use lapwing_show::answers::session::{SessionAnswer, SessionKind};
use lapwing_show::writing::AnswerFormat;

use super::familiar::REFERENCE;
use super::{RunReport, STUDY};
use crate::cleaning::CleaningOptions;
use crate::error::CliError;
use crate::options::{Context, answer_text};

/// Reads the results of a session; its variants are compared by a metric, or by wall time, with the smallest effect that was
/// asked for or that of the suite.
pub fn session_results(
    store: &Store,
    session: &Session,
    plan: &Plan,
    (metric, effect): (Option<&str>, Option<f64>),
) -> Result<SessionResults, StoreError> {
    let is_shell_command = |command: &CommandLine| matches!(command, CommandLine::Shell(_));
    let has_commits = plan.variants.iter().any(|it| it.commit.is_some());
    let variants = plan.variants.iter().map(|variant| ResultVariant {
        label: match has_commits && variant.commit.is_none() {
            true => "working tree".to_owned(),
            false => variant.label(),
        },
        is_control: variant.control_of.is_some(),
        has_environment: variant.python.is_some(),
    });
    let cases = plan.cases.iter();
    // A suite that is not there any more says nothing.
    let judging = CleaningOptions::of_session(session, plan).judging();
    let limits = judging.map(|it| it.suite).unwrap_or_default();
    let planned = PlannedResults {
        session: session.id,
        suite: &plan.suite,
        in_shell: cases.map(|case| is_shell_command(&case.command)).collect(),
        variants: variants.collect(),
        positions: &|benchmark, run| place_in(plan, benchmark, run),
        limits: &limits,
        smallest_effect: effect,
    };
    SessionResults::read(store, &planned, metric)
}

/// Reads the results of a session, with the comparisons that explain them.
pub fn session_answer(
    store: &Store,
    session: &Session,
    plan: &Plan,
    asked: (Option<&str>, Option<f64>),
) -> Result<SessionAnswer, StoreError> {
    let state = store.catalogue().session_state(session.id)?;
    Ok(SessionAnswer {
        results: session_results(store, session, plan, asked)?,
        kind: if session.attributes.contains_key(STUDY) {
            SessionKind::Study
        } else if plan.suite == AdHoc::SUITE {
            SessionKind::Commands
        } else {
            SessionKind::Suite
        },
        reference: session
            .attributes
            .get(REFERENCE)
            .and_then(|it| it.as_str())
            .map(str::to_owned),
        all_figures: false,
        session: session.clone(),
        instances: state.instances.iter().filter(|it| !it.is_lost()).count(),
        interrupted_of: None,
        notes: Vec::new(),
        next: Vec::new(),
    })
}

impl RunReport {
    /// Shows results, and writes them to the files that were asked for.
    pub fn show(&self, answer: &SessionAnswer, context: &Context) -> Result<(), CliError> {
        if self.files.take_stdout() {
            if !context.quiet {
                let text = answer_text(answer, AnswerFormat::Text, &self.answer, context)?;
                context.terminal.say(&format!("\n{}", text.trim_end()));
            }
        } else {
            if context.format == AnswerFormat::Text && !context.quiet {
                writeln!(context.terminal.out())?;
            }
            context.show(answer, &self.answer)?;
        }
        self.export.write_answer(answer, &self.answer, context)?;
        if let Some(path) = &self.plot {
            answer.chart().save(path)?;
        }
        Ok(())
    }
}
