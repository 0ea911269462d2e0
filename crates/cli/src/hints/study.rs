//! Hints for errors of studies and advice.

use std::error::Error;

use lapwing_show::answers::study::StudyAnswerError;
use lapwing_study::design::StudyDesignError;
use lapwing_study::{
    OptimisationError, StackDataError, StackModelError, StudyError, StudyReadError, StudyViewError,
};

use crate::error::ExitStatus;

/// The exit code of an error, and what to do next.
type Advice = (ExitStatus, Option<&'static str>);

/// Returns the exit code and the hint of an error of a study or of advice.
pub fn advice(error: &(dyn Error + 'static)) -> Option<Advice> {
    let kinds: [fn(&(dyn Error + 'static)) -> Option<Advice>; 7] = [
        |error| Some(study(error.downcast_ref()?)),
        |error| Some(read(error.downcast_ref()?)),
        |error| Some(answer(error.downcast_ref()?)),
        |error| Some(design(error.downcast_ref()?)),
        |error| Some(optimisation(error.downcast_ref()?)),
        |error| Some(stack_data(error.downcast_ref()?)),
        |error| Some(stack_model(error.downcast_ref()?)),
    ];
    kinds.into_iter().find_map(|kind| kind(error))
}

const NO_HINT: Advice = (ExitStatus::Input, None);

fn input(hint: &'static str) -> Advice {
    (ExitStatus::Input, Some(hint))
}

fn not_enough(hint: &'static str) -> Advice {
    (ExitStatus::NotEnough, Some(hint))
}

fn study(error: &StudyError) -> Advice {
    match error {
        StudyError::NoFactors { .. } => input(
            "define factors in the suite file, or import runs with `lapwing study import`; docs/study.md shows how",
        ),
        StudyError::SeveralMetrics { .. } => input("name one with --metric"),
        StudyError::NoValues { .. } => {
            not_enough("`lapwing list metrics` lists the measured metrics")
        }
        StudyError::TooMany { .. } | StudyError::Unknown { .. } | StudyError::NoLevel { .. } => {
            NO_HINT
        }
    }
}

fn read(error: &StudyReadError) -> Advice {
    match error {
        StudyReadError::Benchmarks { .. } => {
            input("name one with --benchmark, or its suite with --where suite=NAME")
        }
        StudyReadError::Nothing => not_enough("`lapwing list` shows the contents of the store"),
        StudyReadError::Study(error) => study(error),
        StudyReadError::Metrics { .. } | StudyReadError::Store(_) => NO_HINT,
    }
}

fn answer(error: &StudyAnswerError) -> Advice {
    let StudyAnswerError::View(error) = error else {
        return NO_HINT;
    };
    match error {
        StudyViewError::NotOnScale { .. }
        | StudyViewError::NotFinite
        | StudyViewError::NoModel { .. } => (ExitStatus::NotEnough, None),
        StudyViewError::NoDeltas => not_enough("`lapwing study fit` needs no such pairs"),
        StudyViewError::NoCurves => not_enough("`--show means` shows the other factors"),
        StudyViewError::SameEnds => input("name another one with --from or --to"),
        StudyViewError::NoStep { .. } => not_enough("measure it, or start elsewhere with --from"),
        StudyViewError::NoSequences { .. } => {
            not_enough("a design of walks or a full factorial has them")
        }
        StudyViewError::Study(error) => study(error),
    }
}

fn design(error: &StudyDesignError) -> Advice {
    match error {
        StudyDesignError::Levels { .. } | StudyDesignError::Constrained { .. } => {
            input("`--kind optimal` has any levels and respects requirements and exclusions")
        }
        StudyDesignError::TooMany { .. } => input(
            "`--kind optimal --runs N` needs fewer, as do `--model main` and fewer factors (`--factor`)",
        ),
        StudyDesignError::TooFew { .. } | StudyDesignError::Optimal(_) => input(
            "give more --runs, or ask for less: `--model main`, a lower --resolution, fewer factors (`--factor`)",
        ),
        StudyDesignError::Requirement { .. } => input("name it with `--factor`, too"),
        StudyDesignError::TooFewFactors { .. }
        | StudyDesignError::Space(_)
        | StudyDesignError::Infeasible { .. }
        | StudyDesignError::NoList
        | StudyDesignError::Complete
        | StudyDesignError::Nothing => NO_HINT,
    }
}

fn optimisation(error: &OptimisationError) -> Advice {
    match error {
        OptimisationError::Read(error) => read(error),
        OptimisationError::Design(error) => design(error),
        OptimisationError::Space(_) => NO_HINT,
    }
}

fn stack_data(error: &StackDataError) -> Advice {
    match error {
        StackDataError::NoStacks { .. } => not_enough(
            "a stack is a variant with packages as factors; docs/advise.md shows how to measure some",
        ),
        StackDataError::Metric(_) => input("name the goal with --goal, or choose with --benchmark"),
        StackDataError::Goal(_) => {
            input("`lapwing list metrics` shows metrics; the suite states directions")
        }
    }
}

fn stack_model(error: &StackModelError) -> Advice {
    match error {
        StackModelError::TooFew { .. } => not_enough("measure more stacks"),
        StackModelError::NoCandidate { .. } => {
            input("relax a requirement or a rule, or measure more versions")
        }
        StackModelError::Hardware { .. } => input("`lapwing list` shows the measured hosts"),
    }
}
