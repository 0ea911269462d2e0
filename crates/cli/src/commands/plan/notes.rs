//! Notes below a plan.

use lapwing_analyse::explain::{ChoiceRule, MOST_NEEDED, PlanOptions, Unable, Unmet};
use lapwing_model::text::{counted, first_names, grouped};
use lapwing_show::answers::not_judged;
use lapwing_show::{DetectionView, beyond_band_note, machine_time, round_percent};
use lapwing_stats::Configuration;

use super::lines::{ChosenPlan, LineFate, PlanLine};
use super::text::{cost_text, power_text, rate_text, shown};
use super::{PlanCommand, document};

/// More names than this are a number.
const NAMES: usize = 3;

/// Returns the notes below the table.
pub fn notes(plan: &ChosenPlan, command: &PlanCommand) -> Vec<String> {
    let options = &plan.options;
    let view = DetectionView::of(&options.detection, 1.05, options.power);
    let mut notes = vec![format!(
        "{}, false positives at most {} as far as the simulation shows; costs are for one version",
        view.basis(),
        round_percent(options.false_positives)
    )];
    notes.extend(of_lines(plan, command));
    notes.extend(lesser(plan));
    notes.extend(beyond(plan, command));
    notes.extend(unmet(plan, command));
    notes.extend(not_judged::note(&plan.missing));
    notes.extend(older(plan));
    if plan.kept().next().is_none() && !plan.is_skipped() {
        notes.push(
            "`lapwing mds` shows what is detectable, and with how many instances and iterations"
                .to_owned(),
        );
    }
    if command.output.is_none() && command.update_suite.is_none() && plan.kept().next().is_some() {
        notes.push("`-o FILE` saves the plan; `lapwing run --plan FILE` runs it".to_owned());
    }
    notes
}

/// Returns notes on reading the table.
fn of_lines(plan: &ChosenPlan, command: &PlanCommand) -> Vec<String> {
    let mut notes = Vec::new();
    let shared = document::shared(plan);
    if !shared.is_empty() {
        notes.push(format!(
            "the plan has one entry per benchmark, from its most expensive line: {}",
            first_names(&shared, NAMES)
        ));
    }
    notes.extend(beyond_band_note(command.smallest_effect));
    let is_by_formula = |line: &PlanLine| {
        let mut shown = line.choice.found.iter().filter_map(|it| shown(&it.1));
        shown.any(|it| it.is_by_formula())
    };
    if plan.lines.iter().any(is_by_formula) {
        notes.push("~ computed by formula: too many instances to simulate".to_owned());
    }
    notes.extend(pilot(plan));
    let unknown: Vec<&str> =
        plan.names(|line| line.fate == LineFate::Kept && line.cost().is_none());
    if !unknown.is_empty() {
        notes.push(format!(
            "no wall time was recorded, so the cost is unknown and not part of any sum: {}",
            first_names(&unknown, NAMES)
        ));
    }
    notes
}

/// Returns a note on what the power rests on.
fn pilot(plan: &ChosenPlan) -> Option<String> {
    let options = &plan.options;
    if options.rule == ChoiceRule::Hail {
        return None;
    }
    let pilots = plan.lines.iter().filter(|it| it.fate != LineFate::Skipped);
    let pilots = pilots.filter_map(|it| it.choice.variability.pilot);
    let sizes: Vec<usize> = pilots.clone().map(|it| it.instances).collect();
    let (fewest, most) = (sizes.iter().min()?, sizes.iter().max()?);
    let size = if fewest == most {
        counted(*most, "instance")
    } else {
        format!("{fewest} to {} per benchmark", counted(*most, "instance"))
    };
    let tails = pilots.filter(|it| it.has_heavy_tails()).count();
    let tails = match (tails, sizes.len()) {
        (0, _) => String::new(),
        (tails, all) if tails == all => "; outliers make it less certain".to_owned(),
        (tails, all) => format!("; outliers make it less certain for {tails} of {all}"),
    };
    let few = if *fewest < FEW_INSTANCES {
        " (a larger pilot makes cheaper plans)"
    } else {
        ""
    };
    Some(format!(
        "power rests on a pilot of {size}{tails}; […]: its range, as the noise is not known better; {} of such plans have a power of {} or more{few}",
        round_percent(options.assurance),
        round_percent(options.power),
    ))
}

/// With fewer instances, the noise between them is known to a factor of about 1.5.
const FEW_INSTANCES: usize = 10;

/// Returns notes on configurations with too little power, chosen by hand, or too many false positives.
fn lesser(plan: &ChosenPlan) -> Vec<String> {
    let options = &plan.options;
    let (mut lesser, mut louder) = (Vec::new(), Vec::new());
    for line in plan.kept() {
        let Some((_, chosen)) = line.first() else {
            continue;
        };
        let name = &line.choice.benchmark;
        if !options.has_power(chosen) {
            lesser.push(format!("{name} ({})", power_text(chosen)));
        } else if let Some(rates) = chosen.rates
            && rates.has_too_many_false_positives(options.false_positives)
        {
            louder.push(format!("{name} ({})", rate_text(&rates.false_positives)));
        }
    }
    let said = [
        (
            lesser,
            format!(
                "planned by hand, with a power below {} or unknown",
                round_percent(options.power)
            ),
        ),
        (
            louder,
            format!(
                "planned with more than {} false positives",
                round_percent(options.false_positives)
            ),
        ),
    ];
    said.into_iter()
        .filter(|(names, _)| !names.is_empty())
        .map(|(names, what)| format!("{what}: {}", first_names(&names, NAMES)))
        .collect()
}

/// Returns notes on benchmarks beyond the budget.
fn beyond(plan: &ChosenPlan, command: &PlanCommand) -> Vec<String> {
    let mut notes = Vec::new();
    let beyond = plan.names(|line| line.fate == LineFate::BeyondBudget);
    if !beyond.is_empty() {
        notes.push(format!(
            "beyond the budget: {}; all of them would need {} more",
            first_names(&beyond, NAMES),
            cost_text(plan.cost_of(LineFate::BeyondBudget), command)
        ));
    }
    let unknown = plan.names(|line| line.fate == LineFate::CostUnknown);
    if !unknown.is_empty() {
        notes.push(format!(
            "no wall time was recorded, so the cost is unknown and these are not planned: {}",
            first_names(&unknown, NAMES)
        ));
    }
    notes
}

/// Returns notes on slowdowns that no configuration detects as requested: reason, and what is needed.
fn unmet(plan: &ChosenPlan, command: &PlanCommand) -> Vec<String> {
    let options = &plan.options;
    let several = options.slowdowns.len() > 1;
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for line in plan.lines.iter().filter(|it| it.fate != LineFate::Skipped) {
        for (slowdown, found) in &line.choice.found {
            let Err(unmet) = found else { continue };
            let is_unknown = unmet.why == Unable::NoiseUnknown;
            let mut reason = reason(unmet.why, options, command);
            if several && !is_unknown {
                reason = format!("{}: {reason}", round_percent(slowdown - 1.0));
            }
            let name = named(line, unmet);
            match reasons.iter_mut().find(|it| it.0 == reason) {
                Some((_, names)) if is_unknown && names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => reasons.push((reason, vec![name])),
            }
        }
    }
    let reasons = reasons.into_iter();
    let mut notes: Vec<String> = reasons
        .map(|(reason, names)| format!("{reason}: {}", first_names(&names, NAMES)))
        .collect();
    let has_closest = |line: &&PlanLine| line.unmet().is_some_and(|it| it.1.closest.is_some());
    let is_told = |line: &&PlanLine| line.fate != LineFate::Skipped;
    if plan.lines.iter().filter(is_told).any(|it| has_closest(&it)) {
        notes.push("for these the table shows the closest configuration".to_owned());
    }
    notes.extend(not_the_smallest(plan));
    notes
}

/// Returns a note on benchmarks planned for a larger slowdown than the smallest requested.
fn not_the_smallest(plan: &ChosenPlan) -> Option<String> {
    let larger = plan.kept().filter_map(|line| {
        let (first, _) = line.first()?;
        let smallest = line.choice.found.first().map(|it| it.0);
        let smallest = smallest.filter(|it| *it < first)?;
        Some(format!(
            "{} ({}, not {})",
            line.choice.benchmark,
            round_percent(first - 1.0),
            round_percent(smallest - 1.0)
        ))
    });
    let larger: Vec<String> = larger.collect();
    (!larger.is_empty()).then(|| {
        format!(
            "planned for a larger slowdown only: {}",
            first_names(&larger, NAMES)
        )
    })
}

/// Returns a benchmark with the configuration that it needs.
fn named(line: &PlanLine, unmet: &Unmet) -> String {
    let name = &line.choice.benchmark;
    match (unmet.why, unmet.needed) {
        (Unable::NoiseUnknown, _) => name.clone(),
        (_, Some(needed)) => {
            let cost = line
                .cost_with(&needed)
                .map(|it| format!(", {}", machine_time(it)));
            let Configuration {
                instances,
                iterations,
            } = needed.configuration;
            format!(
                "{name} (needs {} × {}{})",
                grouped(instances),
                grouped(iterations),
                cost.unwrap_or_default()
            )
        }
        (Unable::TooMany, None) => {
            format!(
                "{name} (needs more than {} instances)",
                grouped(MOST_NEEDED)
            )
        }
        (_, None) => format!("{name} (no number of instances is enough)"),
    }
}

/// Returns why a slowdown is not detected as requested.
pub fn reason(why: Unable, options: &PlanOptions, command: &PlanCommand) -> String {
    match (why, options.rule) {
        (Unable::NoiseUnknown, _) => {
            "noise unknown (needs 3 instances of 2 iterations, with values above zero)".to_owned()
        }
        (Unable::TooMany, ChoiceRule::Cheapest(most)) => {
            format!("not possible with at most {most} (--max-instances, --max-iterations)")
        }
        (Unable::TooMany | Unable::NotInGrid, _) => {
            "no configuration of the grid has enough power".to_owned()
        }
        (Unable::FalsePositives, ChoiceRule::Hail) => format!(
            "more than {} false positives in the whole grid",
            round_percent(command.alpha)
        ),
        (Unable::FalsePositives, ChoiceRule::Cheapest(_)) => format!(
            "more than {} false positives with every configuration (--confidence 99% has fewer)",
            round_percent(command.alpha)
        ),
    }
}

/// Returns a note on older versions that are not used.
fn older(plan: &ChosenPlan) -> Option<String> {
    if plan.older == 0 {
        return None;
    }
    let older = match plan.older {
        1 => "an older one is not used".to_owned(),
        several => format!("{several} older ones are not used"),
    };
    let is_unknown = |unmet: &Unmet| unmet.why == Unable::NoiseUnknown;
    let is_too_little = !plan.missing.is_empty()
        || plan
            .lines
            .iter()
            .any(|line| line.unmet().is_some_and(|it| is_unknown(it.1)));
    Some(if is_too_little {
        format!(
            "only the latest version of each variant is used, and for some its noise is unknown; {older}: `--settings pooled` combines all, `--settings each` uses each separately"
        )
    } else {
        format!("only the latest version of each variant is used; {older} (`--settings each`)")
    })
}
