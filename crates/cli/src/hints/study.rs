//! Hints for errors of studies and advice.

use std::error::Error;

use lapwing_show::answers::study::StudyAnswerError;
use lapwing_study::design::StudyDesignError;
use lapwing_study::{OptimisationError, StudyError, StudyReadError, StudyViewError};

use crate::error::ExitStatus;

/// The exit code of an error, and what to do next.
type Advice = (ExitStatus, Option<&'static str>);

/// Returns the exit code and the hint of an error of a study.
pub fn advice(error: &(dyn Error + 'static)) -> Option<Advice> {
    let kinds: [fn(&(dyn Error + 'static)) -> Option<Advice>; 5] = [
        |error| Some(study(error.downcast_ref()?)),
        |error| Some(read(error.downcast_ref()?)),
        |error| Some(answer(error.downcast_ref()?)),
        |error| Some(design(error.downcast_ref()?)),
        |error| Some(optimisation(error.downcast_ref()?)),
    ];
    kinds.into_iter().find_map(|kind| kind(error))
}

fn study(error: &StudyError) -> Advice {
    match error {
        StudyError::NoFactors { .. } => (
            ExitStatus::Input,
            Some(
                "define factors in the suite file, or import runs with `lapwing import --from runs`; docs/study.md shows how",
            ),
        ),
        StudyError::SeveralMetrics { .. } => (ExitStatus::Input, Some("name one with --metric")),
        StudyError::NoValues { .. } => (
            ExitStatus::NotEnough,
            Some("`lapwing list metrics` lists the measured metrics"),
        ),
        StudyError::TooMany { .. } | StudyError::Unknown { .. } | StudyError::NoLevel { .. } => {
            (ExitStatus::Input, None)
        }
    }
}

fn read(error: &StudyReadError) -> Advice {
    match error {
        StudyReadError::Benchmarks { .. } => (
            ExitStatus::Input,
            Some("name one with --benchmark, or its suite with --where suite=NAME"),
        ),
        StudyReadError::Nothing => (
            ExitStatus::NotEnough,
            Some("`lapwing list` shows the contents of the store"),
        ),
        StudyReadError::Study(error) => study(error),
        StudyReadError::Metrics { .. } | StudyReadError::Store(_) => (ExitStatus::Input, None),
    }
}

fn answer(error: &StudyAnswerError) -> Advice {
    let StudyAnswerError::View(error) = error else {
        return (ExitStatus::Input, None);
    };
    match error {
        StudyViewError::NotOnScale { .. } | StudyViewError::NotFinite => {
            (ExitStatus::NotEnough, None)
        }
        StudyViewError::NoDeltas => (
            ExitStatus::NotEnough,
            Some("`lapwing study fit` needs no such pairs"),
        ),
        StudyViewError::SameEnds => (
            ExitStatus::Input,
            Some("name another one with --from or --to"),
        ),
        StudyViewError::NoStep { .. } => (
            ExitStatus::NotEnough,
            Some("measure it, or start elsewhere with --from"),
        ),
        StudyViewError::NoSequences { .. } => (
            ExitStatus::NotEnough,
            Some("a design of walks or a full factorial has them"),
        ),
        StudyViewError::Study(error) => study(error),
    }
}

fn design(error: &StudyDesignError) -> Advice {
    let hint = match error {
        StudyDesignError::Levels { .. } | StudyDesignError::Constrained { .. } => {
            Some("`--kind optimal` has any levels and respects requirements and exclusions")
        }
        StudyDesignError::TooMany { .. } => Some(
            "`--kind optimal --runs N` needs fewer, as do `--model main` and fewer factors (`--factor`)",
        ),
        StudyDesignError::TooFew { .. } | StudyDesignError::Optimal(_) => Some(
            "give more --runs, or ask for less: `--model main`, a lower --resolution, fewer factors (`--factor`)",
        ),
        StudyDesignError::Requirement { .. } => Some("name it with `--factor`, too"),
        StudyDesignError::TooFewFactors { .. }
        | StudyDesignError::Space(_)
        | StudyDesignError::Infeasible { .. }
        | StudyDesignError::NoList
        | StudyDesignError::Complete
        | StudyDesignError::Nothing => None,
    };
    (ExitStatus::Input, hint)
}

fn optimisation(error: &OptimisationError) -> Advice {
    match error {
        OptimisationError::Read(error) => read(error),
        OptimisationError::Design(error) => design(error),
        OptimisationError::Space(_) => (ExitStatus::Input, None),
    }
}
