//! Notes below a plan.

use lapwing_analyse::explain::{
    BudgetedPlan, ChoiceRule, LineFate, MOST_NEEDED, PlanLine, PlanOptions, Unable, Unmet,
};
use lapwing_model::text::{counted, first_names, grouped};
use lapwing_stats::Configuration;

use super::PlanAnswer;
use super::text::{cost_text, power_text, rate_text, shown};
use crate::answers::not_judged;
use crate::writing::Note;
use crate::{DetectionView, beyond_band_note, machine_time, round_percent};

/// More names than this are a number.
const NAMES: usize = 3;

/// Returns the notes below the table.
pub fn notes(answer: &PlanAnswer) -> Vec<Note> {
    let plan = &answer.plan;
    let options = &plan.options;
    let view = DetectionView::of(&options.detection, 1.05, options.power);
    let text = format!(
        "{}, false positives at most {} as far as the simulation shows; costs are for one version",
        view.basis(),
        round_percent(options.false_positives)
    );
    let basis = Note::new("basis", text).with("power", options.power);
    let mut notes = vec![basis.with("false_positives", options.false_positives)];
    notes.extend(of_lines(answer));
    notes.extend(lesser(plan));
    notes.extend(beyond(answer));
    notes.extend(unmet(plan));
    notes.extend(not_judged::note(&answer.missing()));
    notes.extend(older(answer));
    notes.extend(answer.notes.clone());
    if plan.kept().next().is_some() && !answer.is_saved {
        let text = "`-o FILE` saves the plan; `lapwing run --plan FILE` runs it";
        notes.push(Note::new("save", text));
    }
    notes
}

/// Returns a note that names benchmarks; `None` of none.
fn naming(code: &'static str, what: &str, names: &[impl AsRef<str>]) -> Option<Note> {
    let text = || format!("{what}: {}", first_names(names, NAMES));
    (!names.is_empty()).then(|| Note::new(code, text()).with("rows", names.len()))
}

/// Returns notes on reading the table.
fn of_lines(answer: &PlanAnswer) -> Vec<Note> {
    let plan = &answer.plan;
    let what = "the plan has one entry per benchmark, from its most expensive line";
    let mut notes = Vec::new();
    notes.extend(naming("shared", what, &plan.shared_names()));
    notes.extend(beyond_band_note(answer.smallest_effect));
    let found = plan.lines.iter().flat_map(|line| &line.choice.found);
    let mut configurations = found.filter_map(|(_, found)| shown(found));
    if configurations.any(|chosen| chosen.is_by_formula()) {
        let text = "~ computed by formula: too many instances to simulate";
        notes.push(Note::new("by_formula", text));
    }
    notes.extend(pilot(plan));
    let unknown = plan.names(|line| line.fate == LineFate::Kept && line.cost().is_none());
    let what = "no wall time was recorded, so the cost is unknown and not part of any sum";
    notes.extend(naming("cost_unknown", what, &unknown));
    notes
}

/// Returns a note on what the power rests on.
fn pilot(plan: &BudgetedPlan) -> Option<Note> {
    let options = &plan.options;
    if options.rule == ChoiceRule::Hail {
        return None;
    }
    let fewest_hosts = planned_lines(plan).filter_map(|line| line.choice.variability.size.hosts);
    let hosts = fewest_hosts.min().map_or_else(String::new, |hosts| {
        format!(
            " on {} or more, whose differences count",
            counted(hosts, "host")
        )
    });
    let pilots = planned_lines(plan).filter_map(|line| line.choice.variability.pilot);
    let sizes: Vec<usize> = pilots.clone().map(|pilot| pilot.instances).collect();
    let (fewest, most) = (sizes.iter().min()?, sizes.iter().max()?);
    let size = if fewest == most {
        counted(*most, "instance")
    } else {
        format!("{fewest} to {} per benchmark", counted(*most, "instance"))
    };
    let heavy = pilots.filter(|pilot| pilot.has_heavy_tails()).count();
    let tails = match (heavy, sizes.len()) {
        (0, _) => String::new(),
        (heavy, all) if heavy == all => "; outliers make it less certain".to_owned(),
        (heavy, all) => format!("; outliers make it less certain for {heavy} of {all}"),
    };
    let few = if *fewest < FEW_INSTANCES {
        " (a larger pilot makes cheaper plans)"
    } else {
        ""
    };
    let text = format!(
        "power rests on a pilot of {size}{hosts}{tails}; […]: its range, as the noise is not known better; {} of such plans have a power of {} or more{few}",
        round_percent(options.assurance),
        round_percent(options.power),
    );
    let note = Note::new("pilot", text).with("fewest_instances", *fewest);
    let note = note.with("most_instances", *most).with("rows", sizes.len());
    Some(note.with("with_outliers", heavy))
}

/// Returns the lines that were not skipped in the review.
fn planned_lines(plan: &BudgetedPlan) -> impl Iterator<Item = &PlanLine> + Clone {
    let lines = plan.lines.iter();
    lines.filter(|line| line.fate != LineFate::Skipped)
}

/// With fewer instances, the noise between them is known to a factor of about 1.5.
const FEW_INSTANCES: usize = 10;

/// Returns notes on configurations with too little power, chosen by hand, or too many false positives.
fn lesser(plan: &BudgetedPlan) -> Vec<Note> {
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
    let by_hand = format!(
        "planned by hand, with a power below {} or unknown",
        round_percent(options.power)
    );
    let loud = format!(
        "planned with more than {} false positives",
        round_percent(options.false_positives)
    );
    let by_hand = naming("less_power", &by_hand, &lesser);
    let loud = naming("more_false_positives", &loud, &louder);
    by_hand.into_iter().chain(loud).collect()
}

/// Returns notes on benchmarks beyond the budget.
fn beyond(answer: &PlanAnswer) -> Vec<Note> {
    let plan = &answer.plan;
    let mut notes = Vec::new();
    let beyond = plan.names(|line| line.fate == LineFate::BeyondBudget);
    if !beyond.is_empty() {
        let cost = plan.cost_of(LineFate::BeyondBudget);
        let text = format!(
            "beyond the budget: {}; all of them would need {} more",
            first_names(&beyond, NAMES),
            cost_text(cost, answer)
        );
        let note = Note::new("beyond_budget", text).with("rows", beyond.len());
        notes.push(note.with("cost_seconds", cost));
    }
    let unknown = plan.names(|line| line.fate == LineFate::CostUnknown);
    let what = "no wall time was recorded, so the cost is unknown and these are not planned";
    notes.extend(naming("not_planned", what, &unknown));
    notes
}

/// Returns notes on slowdowns that no configuration detects as requested: reason, and what is needed.
fn unmet(plan: &BudgetedPlan) -> Vec<Note> {
    let options = &plan.options;
    let several = options.slowdowns.len() > 1;
    let mut reasons: Vec<(Note, Vec<String>)> = Vec::new();
    for line in planned_lines(plan) {
        for (slowdown, found) in &line.choice.found {
            let Err(unmet) = found else { continue };
            let is_unknown = unmet.why == Unable::NoiseUnknown;
            let mut note = reason_note(unmet.why, options);
            if several && !is_unknown {
                note.text = format!("{}: {}", round_percent(slowdown - 1.0), note.text);
                note = note.with("slowdown", *slowdown);
            }
            let name = named(line, unmet);
            match reasons.iter_mut().find(|(known, _)| *known == note) {
                Some((_, names)) if is_unknown && names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => reasons.push((note, vec![name])),
            }
        }
    }
    let mut notes: Vec<Note> = reasons
        .into_iter()
        .map(|(mut note, names)| {
            note.text = format!("{}: {}", note.text, first_names(&names, NAMES));
            note.with("rows", names.len())
        })
        .collect();
    let mut unmet = planned_lines(plan).filter_map(PlanLine::unmet);
    if unmet.any(|(_, unmet)| unmet.closest.is_some()) {
        let text = "for these the table shows the closest configuration";
        notes.push(Note::new("closest", text));
    }
    notes.extend(not_the_smallest(plan));
    notes
}

/// Returns a note on benchmarks planned for a larger slowdown than the smallest requested.
fn not_the_smallest(plan: &BudgetedPlan) -> Option<Note> {
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
    let what = "planned for a larger slowdown only";
    naming("larger_slowdown", what, &larger)
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
    reason_note(why, options).text
}

fn reason_note(why: Unable, options: &PlanOptions) -> Note {
    let rate = round_percent(options.false_positives);
    match (why, options.rule) {
        (Unable::NoiseUnknown, _) => {
            let text = "noise unknown (needs 3 instances of 2 iterations, with values above zero)";
            let note = Note::new("noise_unknown", text).with("required_instances", 3);
            note.with("required_iterations", 2)
        }
        (Unable::TooMany, ChoiceRule::Cheapest(most)) => {
            let text =
                format!("not possible with at most {most} (--max-instances, --max-iterations)");
            let note = Note::new("too_many_instances", text).with("most_instances", most.instances);
            note.with("most_iterations", most.iterations)
                .with("most_needed", MOST_NEEDED)
        }
        (Unable::TooMany | Unable::NotInGrid, _) => Note::new(
            "not_in_grid",
            "no configuration of the grid has enough power",
        ),
        (Unable::FalsePositives, ChoiceRule::Hail) => {
            let text = format!("more than {rate} false positives in the whole grid");
            Note::new("false_positives", text)
        }
        (Unable::FalsePositives, ChoiceRule::Cheapest(_)) => {
            let text = format!(
                "more than {rate} false positives with every configuration (--confidence 99% has fewer)"
            );
            Note::new("false_positives", text)
        }
    }
}

/// Returns a note on older versions that are not used.
fn older(answer: &PlanAnswer) -> Option<Note> {
    let older = match answer.older {
        0 => return None,
        1 => "an older one is not used".to_owned(),
        several => format!("{several} older ones are not used"),
    };
    let mut unmet = answer.plan.lines.iter().filter_map(PlanLine::unmet);
    let is_unknown = unmet.any(|(_, unmet)| unmet.why == Unable::NoiseUnknown);
    let text = if is_unknown || !answer.missing().is_empty() {
        format!(
            "only the latest version of each variant is used, and for some its noise is unknown; {older}: `--settings pooled` combines all, `--settings each` uses each separately"
        )
    } else {
        format!("only the latest version of each variant is used; {older} (`--settings each`)")
    };
    Some(Note::new("older_versions", text).with("older_versions", answer.older))
}
