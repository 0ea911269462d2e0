//! Sessions that measure the configurations of a study.

use std::collections::BTreeMap;
use std::path::Path;

use lapwing_measure::suite::Suite;
use lapwing_model::{Level, Session};
use lapwing_study::design::StudyDesign;
use serde_json::Value;

use crate::error::CliError;
use crate::suite_file;

/// The attribute of a session that has the design of its study.
pub const STUDY: &str = StudyDesign::ATTRIBUTE;

/// The configurations of a study, which are measured instead of the variants of its suite.
#[derive(Debug, Clone)]
pub struct StudySession {
    /// Their names and levels.
    pub configurations: Vec<(String, BTreeMap<String, Level>)>,
    /// The design, as the session keeps it.
    pub design: Value,
    /// Whether it is one of several rounds, whose results are not shown each.
    pub is_part: bool,
}

impl StudySession {
    /// Returns the configurations of a design.
    pub fn of(design: &StudyDesign) -> Result<Self, CliError> {
        let configurations = design.configurations.iter();
        Ok(Self {
            configurations: configurations
                .map(|it| (it.name.clone(), it.levels.clone()))
                .collect(),
            design: serde_json::to_value(design)?,
            is_part: false,
        })
    }

    /// Reads the suite, with these configurations as its variants.
    pub fn suite(&self, path: &Path) -> Result<Suite, CliError> {
        let mut suite = suite_file::load_for_study(path)?;
        suite
            .set_configurations(&self.configurations)
            .map_err(|problem| {
                CliError::input(format!("{}: {problem}", path.display()))
                    .hint("the suite was changed since the design was made: make another one with `lapwing study design`")
            })?;
        Ok(suite)
    }

    /// Keeps the design with a session.
    pub fn keep_in(&self, session: &mut Session) {
        let design = self.design.clone();
        session.attributes.insert(STUDY.to_owned(), design);
    }
}
