//! Whether this machine is fit to measure on, and what would make it fitter.
//!
//! The doctor looks and never changes anything.

mod examine;
mod noise;
mod readings;

use std::collections::BTreeMap;
use std::path::Path;

use super::local::LocalExecutor;
use super::{Environment, ExecutorError, MachineSnapshot, observed};
use examine::{DoctorEvidence, findings, simulation};

pub use noise::{ClockQuality, MachineNoise};
pub use readings::MachineReadings;

/// The doctor's findings.
#[derive(Debug, Clone, PartialEq)]
pub struct DoctorDiagnosis {
    /// The spread of the same work, unless it could not be executed.
    pub noise: Option<MachineNoise>,
    /// The findings, in reading order.
    pub findings: Vec<DoctorFinding>,
}

/// One thing that the doctor looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct DoctorFinding {
    /// The subject: a stable name such as `governor`.
    pub subject: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The finding.
    pub found: String,
    /// The remedy.
    pub advice: Option<String>,
    /// The numbers of the finding, in base units.
    pub values: BTreeMap<&'static str, f64>,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// As it should be.
    Good,
    /// It disturbs measurements.
    Disturbing,
    /// Neither good nor bad, or not to be found out.
    Neutral,
}

/// Examines the machine whose kernel's files are below `root`, which is `/` for this one,
/// for a session whose measurements go to `store`. It takes about a second.
///
/// # Errors
/// When commands cannot be executed.
pub fn examine(
    root: &Path,
    store: &Path,
    executor: &mut LocalExecutor,
) -> Result<DoctorDiagnosis, ExecutorError> {
    let abilities = executor.abilities()?;
    // Before the sample, which is load too.
    let readings = MachineReadings::take(root, store);
    let before = MachineSnapshot::take(root);
    let sampled = MachineNoise::sample(executor)?;
    let after = MachineSnapshot::take(root);
    let own = sampled.map(|(_, used)| used);
    let meanwhile = observed(&before, &after, own);
    let share = |key: &str| meanwhile.get(key).and_then(serde_json::Value::as_f64);
    let noise = sampled.map(|(noise, _)| noise);
    let evidence = DoctorEvidence {
        environment: Environment::read(root),
        readings,
        noise,
        steal: share("steal"),
        other_load: share("other_load"),
        clock: ClockQuality::sample(),
        abilities,
    };
    let mut findings = findings(&evidence);
    findings.push(simulation());
    Ok(DoctorDiagnosis { noise, findings })
}
