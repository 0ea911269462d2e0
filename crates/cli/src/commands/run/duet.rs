//! `lapwing run --duet`: two sides measured at the same time, each on its own cores.

use std::path::Path;

use lapwing_measure::local::{CoresError, duet_cores};
use lapwing_measure::suite::{AdHoc, Plan};
use lapwing_model::text::counted;

use super::options::Run;
use crate::error::CliError;
use crate::options::Context;

/// Returns the plan with the cores of the two sides, if a duet is wanted.
pub fn as_duet(mut plan: Plan, command: &Run, context: &Context) -> Result<Plan, CliError> {
    // Without a new commit there is nothing to measure.
    if !command.duet || plan.variants.is_empty() {
        return Ok(plan);
    }
    check_sides(&plan, command)?;
    if let Some(test) = plan.cases.iter().find(|case| case.pytest.is_some()) {
        return Err(CliError::input(format!(
            "--duet measures commands, and `{}` is a test of pytest, whose iterations pytest starts itself",
            test.benchmark.id
        ))
        .hint("select commands with --benchmark, or measure without --duet: variants are interleaved"));
    }
    if !plan.interleave && plan.variants.iter().any(|it| it.commit.is_some()) {
        return Err(CliError::input(
            "--duet measures two commits at the same time, and this suite measures them one after another",
        )
        .hint("remove `interleave = false` under [version]"));
    }
    let cores = duet_cores(Path::new("/"), plan.cpus.as_deref()).map_err(about)?;
    if !context.quiet {
        context.terminal.say(&format!(
            "duet: one side on CPU {}, the other on CPU {}; they swap with each instance",
            cores.first, cores.second
        ));
        if plan.cases.iter().any(|case| case.instances % 2 == 1) {
            context.terminal.note(
                "with an odd number of instances the sides do not have both sets of cores equally often; \
                 an even number (--instances) cancels differences between cores",
            );
        }
    }
    plan.duet = Some(cores);
    Ok(plan)
}

/// Checks that there are two sides.
fn check_sides(plan: &Plan, command: &Run) -> Result<(), CliError> {
    let (variants, cases) = (plan.variants.len(), plan.cases.len());
    let of_commands = plan.suite == AdHoc::SUITE;
    if variants == 2 || (of_commands && variants == 1 && cases == 2) {
        return Ok(());
    }
    let found = match (
        of_commands,
        plan.variants.iter().all(|it| it.commit.is_some()),
    ) {
        (true, false) => counted(cases, "command"),
        (_, true) => counted(variants, "commit"),
        (false, false) => counted(variants, "variant"),
    };
    let hint = if of_commands {
        "give two: `lapwing run --duet --command 'A' --command 'B'`"
    } else if command.aa {
        "measure the control by itself: `lapwing run --duet --aa --variant NAME`"
    } else {
        "choose two variants: `lapwing run --duet --variant A --variant B`"
    };
    Err(CliError::input(format!(
        "--duet measures two sides at the same time, got {found}"
    ))
    .hint(hint))
}

fn about(error: CoresError) -> CliError {
    let hint = match &error {
        CoresError::Cpus(_) => None,
        CoresError::TooFew { .. } | CoresError::Unknown { .. } => {
            Some("measure without --duet: the sides are interleaved")
        }
    };
    CliError::input(error).hint_if(hint)
}
