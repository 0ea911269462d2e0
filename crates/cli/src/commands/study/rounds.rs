//! Rounds of a study that is measured until a rule ends it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use lapwing_measure::session::SessionRequest;
use lapwing_model::text::counted;
use lapwing_show::answers::study::stability_note;
use lapwing_show::writing::Note;
use lapwing_stats::as_f64;
use lapwing_study::design::StudyDesign;
use lapwing_study::{ROUND_PURPOSE, StabilityOptions, measured_configurations, suite_stability};

use super::options::existing_store;
use super::suite::StudySuite;
use crate::cleaning::CleaningOptions;
use crate::commands::run::{Measurement, RunReport, STUDY, study_request};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::session::interrupts;

/// Measures the rounds.
#[derive(Debug, Clone, Default)]
pub struct StudyRounds {
    /// The suite file.
    pub suite_file: PathBuf,
    /// The benchmarks.
    pub benchmark: Vec<String>,
    /// Iterations per instance.
    pub iterations: Option<u32>,
    /// The limit of an iteration.
    pub time_limit: Option<Duration>,
    /// The name of all sessions.
    pub name: Option<String>,
    /// The time of the instances of all rounds, in seconds.
    pub seconds: f64,
    /// The number of these instances.
    pub instances: f64,
}

impl StudyRounds {
    /// Returns the request to measure a design.
    pub fn request(&self, design: &StudyDesign) -> Result<SessionRequest, CliError> {
        let mut request = study_request(design, &self.suite_file)?;
        request.settings.iterations = self.iterations;
        request.settings.time_limit = self.time_limit;
        request.selection.benchmarks = self.benchmark.clone();
        request.name = self.name.clone();
        Ok(request)
    }

    /// Measures a design, for a purpose that its session records; the results are not shown. Returns whether that was
    /// interrupted.
    pub fn measure(
        &mut self,
        design: &StudyDesign,
        purpose: &str,
        context: &Context,
    ) -> Result<bool, CliError> {
        let mut request = self.request(design)?;
        if let Some(design) = request.attributes.get_mut(STUDY) {
            design[ROUND_PURPOSE] = purpose.into();
        }
        let measurement = Measurement {
            request,
            report: RunReport {
                is_part: true,
                ..RunReport::default()
            },
            dry_run: false,
        };
        let started = Instant::now();
        let status = measurement.act(context)?;
        self.seconds += started.elapsed().as_secs_f64();
        self.instances += f64::from(design.replicates) * as_f64(design.configurations.len());
        Ok(status == ExitStatus::Interrupted || interrupts().count() > 0)
    }

    /// Returns how long so many instances take, by those that were measured; 0 before any.
    pub fn expected(&self, instances: usize) -> Duration {
        let each = self.seconds / self.instances.max(1.0);
        Duration::try_from_secs_f64(each * as_f64(instances)).unwrap_or_default()
    }
}

/// Conditions that end a continuous study.
pub struct ContinuousRule<'a> {
    /// The metric whose effects have to be stable; `None` for the only one that is judged.
    pub metric: Option<&'a str>,
    /// Effects are stable within this share.
    pub within: f64,
    /// The time that may be used.
    pub budget: Option<Duration>,
}

impl ContinuousRule<'_> {
    /// Measures the design, then further configurations.
    pub fn measure(
        &self,
        design: &StudyDesign,
        mut rounds: StudyRounds,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let started = Instant::now();
        let known = measured(design, context)?;
        let mut next = match design.without_measured(&known)? {
            Some(rest) => rest,
            None => next_round(design, 0, known)?,
        };
        for round in 0.. {
            let size = next.configurations.len() * next.replicates as usize;
            let is_late = |budget: Duration| started.elapsed() + rounds.expected(size) > budget;
            if round > 0 && self.budget.is_some_and(is_late) {
                context.terminal.say("the time is over");
                break;
            }
            if rounds.measure(&next, "continuous", context)? {
                return Ok(ExitStatus::Interrupted);
            }
            let stability = Stability::read(design, self.metric, self.within, context)?;
            if !context.quiet {
                let count = counted(next.configurations.len(), "configuration");
                context
                    .terminal
                    .say(&format!("round {}: {count}", round + 1));
                stability.say(context);
            }
            if stability.is_stable() {
                break;
            }
            if stability.notes.is_empty() {
                // The metrics that a program prints are only known afterwards.
                if self.metric.is_none() {
                    let study = StudySuite::load(Some(&rounds.suite_file))?;
                    study.refuse_several_metrics(&rounds.benchmark, context)?;
                }
                return Err(CliError::not_enough(
                    "no benchmark has usable values, so nothing can become stable",
                )
                .hint("name a metric with --metric"));
            }
            next = next_round(design, round, measured(design, context)?)?;
        }
        let program = context.program();
        context
            .terminal
            .say(&format!("`{program} study findings` explains the effects"));
        Ok(ExitStatus::Fine)
    }
}

/// Returns the configurations of a design that were measured.
pub fn measured(design: &StudyDesign, context: &Context) -> Result<Vec<Vec<usize>>, CliError> {
    let store = existing_store(context)?;
    Ok(measured_configurations(store.as_ref(), design)?)
}

fn next_round(
    design: &StudyDesign,
    round: u64,
    measured: Vec<Vec<usize>>,
) -> Result<StudyDesign, CliError> {
    // Another seed for each round, also of the same command a second time.
    let now = Timestamp::now().as_second().unsigned_abs();
    Ok(design.next_round(round, measured, design.seed.wrapping_add(now))?)
}

/// The stability of the effects on each benchmark of a suite.
pub struct Stability {
    /// For each benchmark that has usable values, a note, and whether it is stable.
    notes: Vec<(Note, bool)>,
}

impl Stability {
    /// Reads what was measured until now; a design of main effects assumes that pairs have none.
    pub fn read(
        design: &StudyDesign,
        metric: Option<&str>,
        within: f64,
        context: &Context,
    ) -> Result<Self, CliError> {
        let options = StabilityOptions {
            within,
            model: design.model,
            ..StabilityOptions::default()
        };
        let rules = CleaningOptions::default().rules()?;
        let store = existing_store(context)?;
        let stabilities = suite_stability(store.as_ref(), &design.suite, metric, &rules, &options)?;
        let notes = stabilities.iter().map(|(data, stability)| {
            let note = stability_note(data, &options, stability);
            (note, stability.stable_since().is_some())
        });
        Ok(Self {
            notes: notes.collect(),
        })
    }

    /// Says it, a line per benchmark.
    fn say(&self, context: &Context) {
        for (note, _) in &self.notes {
            context.terminal.say(&note.text);
        }
    }

    /// Returns a note per benchmark, and one if nothing is left to be measured.
    pub fn notes(self) -> Vec<Note> {
        let is_stable = self.is_stable();
        let notes = self.notes.into_iter().map(|(note, _)| note);
        let text = "more configurations will hardly change these effects: the study can end here";
        let end = is_stable.then(|| Note::new("stable", text));
        notes.chain(end).collect()
    }

    /// Returns whether the effects on every benchmark are stable.
    pub fn is_stable(&self) -> bool {
        !self.notes.is_empty() && self.notes.iter().all(|(_, is_stable)| *is_stable)
    }
}
