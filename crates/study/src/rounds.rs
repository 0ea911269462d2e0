//! Rounds of a study that is measured until a rule ends it.

use crate::design::{DesignFileError, DesignKind, DesignRequest, StudyDesign, StudyDesignError};

/// The key, in the design of a session, of the purpose of a round.
pub const ROUND_PURPOSE: &str = "purpose";

/// The purpose of rounds in search of a good configuration.
pub const SEARCH: &str = "search";

/// The purpose of rounds of random configurations that check whether a search is done.
pub const CHECK: &str = "check";

/// The purpose of rounds that compare the best configuration with the base.
pub const CONFIRMATION: &str = "confirmation";

/// Configurations per round after the design.
const BATCH: usize = 8;

impl StudyDesign {
    /// Returns the design without the configurations that were measured already; `None` if all were.
    ///
    /// # Errors
    /// When a configuration has no valid level of a factor.
    pub fn without_measured(
        &self,
        measured: &[Vec<usize>],
    ) -> Result<Option<Self>, DesignFileError> {
        let runs = self.runs()?;
        let mut rest = self.clone();
        rest.configurations = (runs.iter().zip(&self.configurations))
            .filter(|(run, _)| !measured.contains(run))
            .map(|(_, configuration)| configuration.clone())
            .collect();
        Ok((!rest.configurations.is_empty()).then_some(rest))
    }

    /// Returns the next round of the same study, given the configurations that were measured: those that improve the
    /// estimates most and balanced random ones in turn. When all were measured it begins again.
    ///
    /// # Errors
    /// When the factors cannot be combined.
    pub fn next_round(
        &self,
        round: u64,
        measured: Vec<Vec<usize>>,
        seed: u64,
    ) -> Result<Self, StudyDesignError> {
        let request = DesignRequest {
            kind: Some(if round.is_multiple_of(2) {
                DesignKind::Optimal
            } else {
                DesignKind::Random
            }),
            runs: Some(BATCH),
            model: self.model,
            existing: measured,
            replicates: 1,
            seed,
            ..DesignRequest::default()
        };
        let suite = (self.suite.as_str(), self.suite_file.as_str());
        match Self::new(suite, self.factors.clone(), &request) {
            Err(StudyDesignError::Complete) => {
                let again = DesignRequest {
                    kind: Some(DesignKind::List),
                    listed: request.existing,
                    existing: Vec::new(),
                    ..request
                };
                Self::new(suite, self.factors.clone(), &again)
            }
            design => design,
        }
    }
}
