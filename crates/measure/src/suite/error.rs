use std::path::PathBuf;

/// What is wrong with a suite.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A place in the file is wrong.
    #[error("{}:{line}: {problem}", path.display())]
    At {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        problem: SuiteProblem,
    },
}

/// What is wrong at one place of a suite file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SuiteProblem {
    /// The file is no TOML.
    #[error("{0}")]
    Toml(String),
    /// Nobody knows this key.
    #[error("unknown key `{key}` in {place}")]
    UnknownKey {
        /// The key.
        key: String,
        /// Where it stands.
        place: String,
        /// A known key that looks like it.
        suggestion: Option<String>,
    },
    /// The value has the wrong type.
    #[error("`{key}` must be {expected}, not {found}")]
    Type {
        /// The key.
        key: String,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// The value is of the right type and makes no sense.
    #[error("`{key}` {reason}")]
    Value {
        /// The key.
        key: String,
        /// What is wrong with it, as a sentence that follows the key.
        reason: String,
    },
    /// A name refers to nothing.
    #[error("{what} `{name}`{} is not defined", place.as_ref().map_or(String::new(), |place| format!(" in {place}")))]
    Undefined {
        /// What kind of thing.
        what: &'static str,
        /// The name.
        name: String,
        /// The text that refers to it, where the line does not say that.
        place: Option<String>,
        /// A defined name that looks like it.
        suggestion: Option<String>,
    },
    /// Two keys exclude each other.
    #[error("{0}")]
    Contradiction(String),
    /// Parameters refer to each other in a circle.
    #[error("the parameters {} refer to each other in a circle", .0.join(" → "))]
    Circle(Vec<String>),
    /// Two benchmarks have the same id.
    #[error("two benchmarks are called `{0}`")]
    Duplicate(String),
    /// Two benchmarks mean different quantities by one metric.
    #[error("metric `{metric}` is not the same for `{}` and `{}`: give one of them another name", ids[0], ids[1])]
    Quantities {
        /// The metric.
        metric: String,
        /// The benchmarks.
        ids: [String; 2],
    },
    /// Nothing is to be measured.
    #[error("no benchmark is defined: add a table such as [benchmark.name] with a `command`")]
    Empty,
}

impl SuiteProblem {
    /// Returns the problem that a name is none of those known.
    pub(crate) fn undefined<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self::Undefined {
            what,
            name: name.to_owned(),
            place: None,
            suggestion: nearest(name, known),
        }
    }
}

impl SuiteError {
    /// Returns the name that was perhaps meant.
    pub fn suggestion(&self) -> Option<&str> {
        match self {
            Self::At {
                problem:
                    SuiteProblem::UnknownKey { suggestion, .. }
                    | SuiteProblem::Undefined { suggestion, .. },
                ..
            } => suggestion.as_deref(),
            Self::At { .. } | Self::Read { .. } => None,
        }
    }
}

/// Returns the one of `known` that `name` was perhaps meant to be.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len().max(3) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.to_owned())
}
