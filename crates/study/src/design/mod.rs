//! Designs of factor studies: which combinations of levels are measured.
//!
//! A [`StudyDesign`] is a file. It is made from the factors of a suite by [`StudyDesign::new`], and
//! `lapwing study run` measures it.

mod ability;
mod choice;
mod error;
mod factor;
mod kinds;
mod search;

use std::collections::BTreeMap;

use lapwing_model::Level;
use lapwing_stats::design::{DesignSpace, DesignSpaceError};
use serde::{Deserialize, Serialize};

pub use ability::{DesignAbility, StudyPower};
use ability::{FIT_MAIN, FIT_PAIRS};
pub use choice::DesignRequest;
pub use error::StudyDesignError;
pub use factor::PlannedFactor;
pub use search::{MeasuredSettings, SettingSummary, StudySearch};

/// The version of the file format.
const VERSION: u32 = 1;

/// The name of the configuration with every factor at its base level.
pub const BASE: &str = "base";

/// How the combinations of levels are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DesignKind {
    /// All combinations.
    Full,
    /// A regular fraction of them, two levels each.
    Fractional,
    /// As few as there are main effects, two levels each.
    PlackettBurman,
    /// Those that estimate the model best.
    Optimal,
    /// So that every combination of levels of any two factors occurs.
    Covering,
    /// Random ones in which levels occur equally often.
    Random,
    /// The base, and everything that differs from it by one factor.
    OneAtATime,
    /// Sequences from the base that change one factor at a time.
    Walks,
    /// Named by the user.
    List,
}

impl DesignKind {
    /// Returns its name in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::Full => "a full factorial",
            Self::Fractional => "a fractional factorial",
            Self::PlackettBurman => "a Plackett–Burman design",
            Self::Optimal => "a D-optimal design",
            Self::Covering => "a covering array",
            Self::Random => "a balanced random design",
            Self::OneAtATime => "one factor at a time",
            Self::Walks => "a design of walks",
            Self::List => "a list of configurations",
        }
    }
}

/// The effects that a study is to estimate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StudyModel {
    /// Each factor alone.
    Main,
    /// Each factor, and each pair of factors.
    #[default]
    Pairs,
}

/// A combination of levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyConfiguration {
    /// The levels that differ from the base, such as `safe,threads=4`; it is the name of the variant.
    pub name: String,
    /// The level of every factor.
    pub levels: BTreeMap<String, Level>,
}

/// The design of a factor study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyDesign {
    /// The version of this format.
    #[serde(rename = "lapwing_design")]
    pub version: u32,
    /// The suite.
    pub suite: String,
    /// The suite file.
    pub suite_file: String,
    /// The kind of the design.
    pub kind: DesignKind,
    /// The effects that it is to estimate.
    pub model: StudyModel,
    /// The seed of the choice and of the order of measuring.
    pub seed: u64,
    /// How many instances of each configuration are measured, one per block.
    pub replicates: u32,
    /// The factors.
    pub factors: Vec<PlannedFactor>,
    /// The combinations of levels.
    pub configurations: Vec<StudyConfiguration>,
    /// The resolution of a fraction; `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<usize>,
    /// Effects of one and two factors that cannot be told apart, by group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Vec<String>>,
    /// The D-efficiency for the model in percent; 0 if it cannot be estimated.
    pub d_efficiency: f64,
    /// The analyses that it supports, by the names of their commands.
    pub supports: Vec<String>,
    /// What a reader should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<DesignNote>,
}

/// What a reader of a design should know. A file has its text alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct DesignNote {
    /// The note in words.
    pub text: String,
    /// The numbers of the text, by name.
    pub numbers: Vec<(&'static str, usize)>,
}

impl DesignNote {
    fn new(text: String, numbers: &[(&'static str, usize)]) -> Self {
        Self {
            text,
            numbers: numbers.to_vec(),
        }
    }
}

impl From<String> for DesignNote {
    fn from(text: String) -> Self {
        Self::new(text, &[])
    }
}

impl From<DesignNote> for String {
    fn from(note: DesignNote) -> Self {
        note.text
    }
}

/// What is wrong with the file of a design.
#[derive(Debug, thiserror::Error)]
pub enum DesignFileError {
    /// It is no design.
    #[error("this is not a study design: {source}")]
    Json {
        /// Why.
        #[from]
        source: serde_json::Error,
    },
    /// It was written by a newer program.
    #[error("this study design has version {version}, and the newest that is known is {VERSION}")]
    Newer {
        /// Its version.
        version: u32,
    },
    /// A configuration lacks a factor, or has a level that its factor does not have.
    #[error("configuration `{configuration}` has no valid level of `{factor}`")]
    Level {
        /// The configuration.
        configuration: String,
        /// The factor.
        factor: String,
    },
    /// Nothing is to be measured.
    #[error("this study design has no configuration")]
    Empty,
}

impl StudyDesign {
    /// Returns which effects it estimates, in words.
    pub fn estimated(&self) -> &'static str {
        match self.estimation() {
            2 => "main effects and pairs",
            1 => "main effects only",
            _ => "no effects",
        }
    }

    /// Returns whether it estimates all effects of its model.
    pub fn estimates_its_model(&self) -> bool {
        self.estimation()
            >= match self.model {
                StudyModel::Main => 1,
                StudyModel::Pairs => 2,
            }
    }

    fn estimation(&self) -> u8 {
        let supports = |name: &str| self.supports.iter().any(|it| it == name);
        if supports(FIT_PAIRS) {
            2
        } else {
            u8::from(supports(FIT_MAIN))
        }
    }

    /// The attribute of a session that has its design.
    pub const ATTRIBUTE: &'static str = "study";

    /// Reads the text of a file.
    ///
    /// # Errors
    /// When it is no design of a known version.
    pub fn read(text: &str) -> Result<Self, DesignFileError> {
        let value: serde_json::Value = serde_json::from_str(text)?;
        // A newer one may lack what this version needs.
        if let Some(version) = value["lapwing_design"].as_u64()
            && version > u64::from(VERSION)
        {
            let version = u32::try_from(version).unwrap_or(u32::MAX);
            return Err(DesignFileError::Newer { version });
        }
        let design: Self = serde_json::from_value(value)?;
        if design.configurations.is_empty() {
            return Err(DesignFileError::Empty);
        }
        design.runs()?;
        Ok(design)
    }

    /// Returns the text of its file.
    ///
    /// # Errors
    /// When a level is a number that JSON does not have.
    pub fn write(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Returns the space of its factors.
    pub(crate) fn space(&self) -> Result<DesignSpace, DesignSpaceError> {
        let levels = self.factors.iter().map(|factor| factor.levels.len());
        factor::space(&self.factors, levels.collect())
    }

    /// Returns its configurations as numbers of levels, 0 for the base.
    ///
    /// # Errors
    /// When a configuration has no valid level of a factor.
    pub fn runs(&self) -> Result<Vec<Vec<usize>>, DesignFileError> {
        let run = |configuration: &StudyConfiguration| {
            let level = |factor: &PlannedFactor| {
                let level = configuration.levels.get(&factor.name);
                let position = level.and_then(|it| factor.levels.iter().position(|own| own == it));
                position.ok_or_else(|| DesignFileError::Level {
                    configuration: configuration.name.clone(),
                    factor: factor.name.clone(),
                })
            };
            self.factors.iter().map(level).collect()
        };
        self.configurations.iter().map(run).collect()
    }
}

impl StudyConfiguration {
    /// Returns the configuration of a run of these factors.
    pub fn new(factors: &[PlannedFactor], run: &[usize]) -> Self {
        let chosen = factors.iter().zip(run);
        let differs = chosen.clone().filter(|(_, level)| **level > 0);
        let names: Vec<String> = differs.map(|(it, level)| it.level_name(*level)).collect();
        Self {
            name: if names.is_empty() {
                BASE.to_owned()
            } else {
                names.join(",")
            },
            levels: chosen
                .map(|(it, level)| (it.name.clone(), it.levels[*level].clone()))
                .collect(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
