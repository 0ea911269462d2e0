//! Stacks: combinations of package versions, each of them a variant with its Python environment.

mod build;
mod choice;
mod file;
mod resolver;
mod sources;
mod specification;

use std::io;

use lapwing_model::Levels;

use crate::ExecutorError;
use crate::session::SessionError;

pub use build::{BuiltStacks, build_stacks};
pub use choice::{StackChoice, StackNovelty, combinations};
pub use file::{
    RefusedStack, RefusedState, ResolvedStack, STACKS, StackFile, refused_stacks,
    unimportable_stacks, unresolved_stacks,
};
pub use resolver::{PinnedPackage, StackPython, StackRequirement, VersionStep};
pub use specification::{InspectionSpecification, PODMAN};

/// The name of the factor that is the version of Python.
pub const PYTHON: &str = "python";

/// Returns the name of a stack: `numpy=2.1.0,python=3.12.4`.
pub fn stack_name(factors: &Levels) -> String {
    let parts = factors.iter();
    let parts: Vec<String> = parts
        .map(|(name, version)| format!("{name}={version}"))
        .collect();
    parts.join(",")
}

/// Stacks that cannot be chosen, read or built.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    /// A text is no requirement.
    #[error("`{text}` is not a requirement")]
    NotARequirement {
        /// The text.
        text: String,
    },
    /// A requirement does more than to name a package.
    #[error("`{line}` may take a package from elsewhere, or execute its code")]
    ForeignSource {
        /// The line.
        line: String,
    },
    /// A text is no version of Python.
    #[error("`{text}` is not a version of Python")]
    NotAPython {
        /// The text.
        text: String,
    },
    /// An interpreter cannot be found.
    #[error("no Python {version}: {reason}")]
    NoPython {
        /// The version.
        version: String,
        /// The output of uv.
        reason: String,
    },
    /// uv is not installed.
    #[error("stacks need uv, which is not installed")]
    NoUv,
    /// uv cannot be started.
    #[error("{source}")]
    UvFailed {
        /// The reason.
        source: io::Error,
    },
    /// There are too many combinations.
    #[error("the versions have more than {most} combinations")]
    ManyCombinations {
        /// The largest number of them.
        most: usize,
    },
    /// A file of stacks cannot be used.
    #[error("{path}: {reason}")]
    File {
        /// The path.
        path: String,
        /// The reason.
        reason: String,
    },
    /// A specification cannot be used.
    #[error("{path}: {reason}")]
    Specification {
        /// The path.
        path: String,
        /// The reason.
        reason: String,
    },
    /// A thread that builds ended in a panic.
    #[error("building an environment failed")]
    Panicked,
    /// A program cannot be executed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Commands cannot be executed.
    #[error(transparent)]
    Executor(#[from] ExecutorError),
    /// An environment cannot be prepared.
    #[error(transparent)]
    Session(#[from] SessionError),
}
