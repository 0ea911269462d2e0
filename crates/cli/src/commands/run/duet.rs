//! `lapwing run --duet`: two sides measured at the same time, each on its own cores.

use lapwing_measure::suite::Plan;

use crate::options::Context;

/// Says which cores each side has.
pub fn say_cores(plan: &Plan, context: &Context) {
    let (Some(cores), false) = (&plan.duet, context.quiet) else {
        return;
    };
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
