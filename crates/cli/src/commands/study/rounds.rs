//! Rounds of a study that is measured until a rule ends it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lapwing_study::design::{DesignKind, DesignRequest, PlannedFactor, StudyDesign};

use super::design::about;
use crate::commands::run::{Measurement, RunReport, STUDY, study_request};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// The key, in the design of a session, of what a round is for.
pub const PURPOSE: &str = "purpose";

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
    /// Measures a design, for a purpose that its session records; the results are not shown.
    pub fn measure(
        &mut self,
        design: &StudyDesign,
        purpose: &str,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let mut request = study_request(design, &self.suite_file)?;
        if let Some(design) = request.attributes.get_mut(STUDY) {
            design[PURPOSE] = purpose.into();
        }
        request.settings.iterations = self.iterations;
        request.settings.time_limit = self.time_limit;
        request.selection.benchmarks = self.benchmark.clone();
        request.name = self.name.clone();
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
        self.instances +=
            f64::from(design.replicates) * lapwing_stats::as_f64(design.configurations.len());
        Ok(status)
    }

    /// Returns how long so many instances take, by those that were measured; 0 before any.
    pub fn expected(&self, instances: usize) -> Duration {
        let each = self.seconds / self.instances.max(1.0);
        Duration::try_from_secs_f64(each * lapwing_stats::as_f64(instances)).unwrap_or_default()
    }
}

/// Returns the design of some configurations.
pub fn listed_design(
    (suite, suite_file): (&str, &Path),
    factors: &[PlannedFactor],
    runs: Vec<Vec<usize>>,
    replicates: u32,
    seed: u64,
) -> Result<StudyDesign, CliError> {
    let request = DesignRequest {
        kind: Some(DesignKind::List),
        listed: runs,
        replicates,
        seed,
        ..DesignRequest::default()
    };
    let file = suite_file.display().to_string();
    StudyDesign::new((suite, &file), factors.to_vec(), &request).map_err(about)
}
