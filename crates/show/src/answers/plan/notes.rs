//! Notes below a plan.

use lapwing_analyse::explain::{
    BudgetedPlan, ChoiceRule, LineFate, MOST_NEEDED, PlanLine, PlanOptions, Unable, Unmet,
};
use lapwing_model::text::{counted, first_names, grouped};
use lapwing_stats::Configuration;

use super::PlanAnswer;
use super::text::{cost_text, power_text, rate_text, shown};
use crate::answers::not_judged;
use crate::{DetectionView, beyond_band_note, machine_time, round_percent};

/// More names than this are a number.
const NAMES: usize = 3;

/// Returns the notes below the table.
pub fn notes(answer: &PlanAnswer) -> Vec<String> {
    let plan = &answer.plan;
    let options = &plan.options;
    let view = DetectionView::of(&options.detection, 1.05, options.power);
    let is_empty = plan.kept().next().is_none();
    let mut notes = vec![format!(
        "{}, false positives at most {} as far as the simulation shows; costs are for one version",
        view.basis(),
        round_percent(options.false_positives)
    )];
    notes.extend(of_lines(answer));
    notes.extend(lesser(plan));
    notes.extend(beyond(answer));
    notes.extend(unmet(plan));
    notes.extend(not_judged::note(&answer.missing()).map(|it| it.text));
    notes.extend(older(answer));
    if is_empty && !plan.is_skipped() {
        notes.push(
            "`lapwing mds` shows what is detectable, and with how many instances and iterations"
                .to_owned(),
        );
    }
    if !is_empty && !answer.is_saved {
        notes.push("`-o FILE` saves the plan; `lapwing run --plan FILE` runs it".to_owned());
    }
    notes
}

/// Returns notes on reading the table.
fn of_lines(answer: &PlanAnswer) -> Vec<String> {
    let plan = &answer.plan;
    let mut notes = Vec::new();
    let shared = plan.shared_names();
    if !shared.is_empty() {
        notes.push(format!(
            "the plan has one entry per benchmark, from its most expensive line: {}",
            first_names(&shared, NAMES)
        ));
    }
    notes.extend(beyond_band_note(answer.smallest_effect));
    let found = plan.lines.iter().flat_map(|line| &line.choice.found);
    let mut configurations = found.filter_map(|(_, found)| shown(found));
    if configurations.any(|chosen| chosen.is_by_formula()) {
        notes.push("~ computed by formula: too many instances to simulate".to_owned());
    }
    notes.extend(pilot(plan));
    let unknown = plan.names(|line| line.fate == LineFate::Kept && line.cost().is_none());
    if !unknown.is_empty() {
        notes.push(format!(
            "no wall time was recorded, so the cost is unknown and not part of any sum: {}",
            first_names(&unknown, NAMES)
        ));
    }
    notes
}

/// Returns a note on what the power rests on.
fn pilot(plan: &BudgetedPlan) -> Option<String> {
    let options = &plan.options;
    if options.rule == ChoiceRule::Hail {
        return None;
    }
    let pilots = planned_lines(plan).filter_map(|line| line.choice.variability.pilot);
    let sizes: Vec<usize> = pilots.clone().map(|pilot| pilot.instances).collect();
    let (fewest, most) = (sizes.iter().min()?, sizes.iter().max()?);
    let size = if fewest == most {
        counted(*most, "instance")
    } else {
        format!("{fewest} to {} per benchmark", counted(*most, "instance"))
    };
    let tails = pilots.filter(|pilot| pilot.has_heavy_tails()).count();
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

/// Returns the lines that were not skipped in the review.
fn planned_lines(plan: &BudgetedPlan) -> impl Iterator<Item = &PlanLine> + Clone {
    let lines = plan.lines.iter();
    lines.filter(|line| line.fate != LineFate::Skipped)
}

/// With fewer instances, the noise between them is known to a factor of about 1.5.
const FEW_INSTANCES: usize = 10;

/// Returns notes on configurations with too little power, chosen by hand, or too many false positives.
fn lesser(plan: &BudgetedPlan) -> Vec<String> {
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
    let notes = [
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
    let notes = notes.into_iter().filter(|(names, _)| !names.is_empty());
    notes
        .map(|(names, what)| format!("{what}: {}", first_names(&names, NAMES)))
        .collect()
}

/// Returns notes on benchmarks beyond the budget.
fn beyond(answer: &PlanAnswer) -> Vec<String> {
    let plan = &answer.plan;
    let mut notes = Vec::new();
    let beyond = plan.names(|line| line.fate == LineFate::BeyondBudget);
    if !beyond.is_empty() {
        notes.push(format!(
            "beyond the budget: {}; all of them would need {} more",
            first_names(&beyond, NAMES),
            cost_text(plan.cost_of(LineFate::BeyondBudget), answer)
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
fn unmet(plan: &BudgetedPlan) -> Vec<String> {
    let options = &plan.options;
    let several = options.slowdowns.len() > 1;
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for line in planned_lines(plan) {
        for (slowdown, found) in &line.choice.found {
            let Err(unmet) = found else { continue };
            let is_unknown = unmet.why == Unable::NoiseUnknown;
            let mut reason = reason(unmet.why, options);
            if several && !is_unknown {
                reason = format!("{}: {reason}", round_percent(slowdown - 1.0));
            }
            let name = named(line, unmet);
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
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
    let mut unmet = planned_lines(plan).filter_map(PlanLine::unmet);
    if unmet.any(|(_, unmet)| unmet.closest.is_some()) {
        notes.push("for these the table shows the closest configuration".to_owned());
    }
    notes.extend(not_the_smallest(plan));
    notes
}

/// Returns a note on benchmarks planned for a larger slowdown than the smallest requested.
fn not_the_smallest(plan: &BudgetedPlan) -> Option<String> {
    let larger = plan.kept().filter_map(|line| {
        let (first, _) = line.first()?;
        let (smallest, _) = line.choice.found.first()?;
        if *smallest >= first {
            return None;
        }
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
pub fn reason(why: Unable, options: &PlanOptions) -> String {
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
            round_percent(options.false_positives)
        ),
        (Unable::FalsePositives, ChoiceRule::Cheapest(_)) => format!(
            "more than {} false positives with every configuration (--confidence 99% has fewer)",
            round_percent(options.false_positives)
        ),
    }
}

/// Returns a note on older versions that are not used.
fn older(answer: &PlanAnswer) -> Option<String> {
    let older = match answer.older {
        0 => return None,
        1 => "an older one is not used".to_owned(),
        several => format!("{several} older ones are not used"),
    };
    let mut unmet = answer.plan.lines.iter().filter_map(PlanLine::unmet);
    let is_unknown = unmet.any(|(_, unmet)| unmet.why == Unable::NoiseUnknown);
    Some(if is_unknown || !answer.missing().is_empty() {
        format!(
            "only the latest version of each variant is used, and for some its noise is unknown; {older}: `--settings pooled` combines all, `--settings each` uses each separately"
        )
    } else {
        format!("only the latest version of each variant is used; {older} (`--settings each`)")
    })
}
