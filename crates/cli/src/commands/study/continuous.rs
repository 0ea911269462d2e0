//! `lapwing study run --continuous`: measures and augments until something ends it.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use lapwing_model::text::counted;
use lapwing_study::design::{DesignKind, DesignRequest, StudyDesign, StudyDesignError};

use super::augment::measured;
use super::design::about;
use super::rounds::StudyRounds;
use super::stability::suite_stability;
use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::session::interrupts;

/// Configurations per round after the design.
const BATCH: usize = 8;

/// When measuring ends.
pub struct ContinuousRule<'a> {
    /// The metric whose effects have to be stable; `None` for the only one that is judged.
    pub metric: Option<&'a str>,
    /// Effects are stable within this share.
    pub within: f64,
    /// The time that may be used.
    pub budget: Option<Duration>,
}

impl ContinuousRule<'_> {
    /// Measures the design, then further configurations, those that improve the estimates and balanced random ones in
    /// turn. When all are measured it begins again, with one instance each.
    pub fn measure(
        &self,
        design: &StudyDesign,
        mut rounds: StudyRounds,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let started = Instant::now();
        let mut next = open_part(design, context)?;
        for round in 0.. {
            let size = next.configurations.len() * next.replicates as usize;
            let is_late = |budget: Duration| started.elapsed() + rounds.expected(size) > budget;
            if round > 0 && self.budget.is_some_and(is_late) {
                context.terminal.say("the time is over");
                break;
            }
            let status = rounds.measure(&next, "continuous", context)?;
            if status == ExitStatus::Interrupted || interrupts().count() > 0 {
                return Ok(ExitStatus::Interrupted);
            }
            let found = suite_stability(&design.suite, self.metric, self.within, context)?;
            if !context.quiet {
                let count = counted(next.configurations.len(), "configuration");
                context
                    .terminal
                    .say(&format!("round {}: {count}", round + 1));
                for own in &found {
                    let text = format!("{}: {}", own.benchmark, own.text);
                    context.terminal.say(&text);
                }
            }
            if !found.is_empty() && found.iter().all(|own| own.is_stable) {
                break;
            }
            if found.is_empty() {
                return Err(CliError::not_enough(
                    "no benchmark has usable values, so nothing can become stable",
                )
                .hint("name a metric with --metric"));
            }
            next = further(design, round, context)?;
        }
        let program = context.program();
        context
            .terminal
            .say(&format!("`{program} study findings` explains the effects"));
        Ok(ExitStatus::Fine)
    }
}

/// Returns the design without the configurations that are measured already, or what follows it.
fn open_part(design: &StudyDesign, context: &Context) -> Result<StudyDesign, CliError> {
    let known = measured(design, context)?;
    let runs = design.runs().map_err(CliError::input)?;
    let mut rest = design.clone();
    rest.configurations = (runs.iter().zip(&design.configurations))
        .filter(|(run, _)| !known.contains(run))
        .map(|(_, own)| own.clone())
        .collect();
    if rest.configurations.is_empty() {
        further(design, 0, context)
    } else {
        Ok(rest)
    }
}

/// Returns what to measure next: new configurations, or all again where none is left.
fn further(design: &StudyDesign, round: u64, context: &Context) -> Result<StudyDesign, CliError> {
    let existing = measured(design, context)?;
    let request = DesignRequest {
        kind: Some(match round % 2 {
            0 => DesignKind::Optimal,
            _ => DesignKind::Random,
        }),
        runs: Some(BATCH),
        model: design.model,
        existing,
        replicates: 1,
        // Another seed for each round, also of the same command a second time.
        seed: design
            .seed
            .wrapping_add(Timestamp::now().as_second().unsigned_abs()),
        ..DesignRequest::default()
    };
    let suite = (design.suite.as_str(), design.suite_file.as_str());
    let found = match StudyDesign::new(suite, design.factors.clone(), &request) {
        Err(StudyDesignError::Complete) => {
            let again = DesignRequest {
                kind: Some(DesignKind::List),
                listed: request.existing,
                existing: Vec::new(),
                ..request
            };
            StudyDesign::new(suite, design.factors.clone(), &again)
        }
        found => found,
    };
    found.map_err(about)
}
