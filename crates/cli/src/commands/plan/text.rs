//! A plan for people.

use lapwing_core::explain::{Choice, ChoiceRule, PlanOptions, Unable};
use lapwing_core::show::{DetectionView, percent, quantity, round_percent};

use super::PlanCommand;
use super::budget::{Fate, Line, Plan};
use crate::table::Align::{Left, Right};
use crate::table::{Table, counted};

/// Returns what comes first: how many benchmarks can detect the slowdown, and what that takes.
pub fn headline(plan: &Plan, options: &PlanOptions, command: &PlanCommand) -> String {
    let kept = plan.kept().count();
    let all = plan.lines.len();
    let slowdown = match options.slowdowns.as_slice() {
        [only] => round_percent(only - 1.0),
        [] => "a slowdown of the grid".to_owned(),
        [first, ..] => format!("slowdowns from {}", round_percent(first - 1.0)),
    };
    let subject = match (kept, all) {
        (1, 1) => "the one benchmark".to_owned(),
        (0, 1) => {
            return format!(
                "the one benchmark cannot detect {slowdown}{}",
                within(plan, command)
            );
        }
        (0, _) => format!("none of {all} benchmarks"),
        (kept, all) if kept == all => format!("all {all} benchmarks"),
        (kept, all) => format!("{kept} of {all} benchmarks"),
    };
    let mut text = format!("{subject} can detect {slowdown}{}", within(plan, command));
    if plan.kept().any(|line| line.cost().is_some()) {
        let cost = plan.cost_of(Fate::Kept);
        text.push_str(&format!(" (takes {})", cost_text(cost, command)));
    }
    text
}

fn within(plan: &Plan, command: &PlanCommand) -> String {
    plan.budget.map_or(String::new(), |budget| {
        format!(" within {}", cost_text(budget, command))
    })
}

/// Returns machine time, and money where the price is known: `16 h at a price of 0.80`.
fn cost_text(seconds: f64, command: &PlanCommand) -> String {
    let time = time_text(seconds);
    match command.price {
        Some(price) => format!("{time} at a price of {:.2}", seconds / 3_600.0 * price),
        None => time,
    }
}

/// Returns `42 s`, `7.5 min` or `16.4 h`.
pub fn time_text(seconds: f64) -> String {
    let number = |value: f64| match value < 9.95 {
        true => format!("{value:.1}"),
        false => format!("{value:.0}"),
    };
    match seconds {
        seconds if seconds < 60.0 => quantity(seconds, "s"),
        seconds if seconds < 3_600.0 => format!("{} min", number(seconds / 60.0)),
        seconds => format!("{} h", number(seconds / 3_600.0)),
    }
}

/// Returns a line for each benchmark, in the order of the store.
pub fn table(plan: &Plan) -> Table {
    let several = plan.lines.iter().any(|line| line.choice.found.len() > 1)
        || slowdowns(plan)
            .windows(2)
            .any(|pair| pair[0].total_cmp(&pair[1]).is_ne());
    let first = plan.lines.first().map(|it| &it.choice);
    let differs = |same: &dyn Fn(&Choice, &Choice) -> bool| {
        first.is_some_and(|first| plan.lines.iter().any(|line| !same(first, &line.choice)))
    };
    let suites = differs(&|one, other| one.suite == other.suite);
    let settings = differs(&|one, other| one.setting.text() == other.setting.text());
    let metrics = differs(&|one, other| one.name == other.name);
    let mut columns = vec![("benchmark", Left)];
    let optional = [
        (suites, "suite"),
        (settings, "setting"),
        (metrics, "metric"),
    ];
    columns.extend(optional.iter().filter(|it| it.0).map(|it| (it.1, Left)));
    columns.extend([("mean", Right), ("burn-in", Right)]);
    if several {
        columns.push(("slowdown", Right));
    }
    columns.extend([
        ("instances", Right),
        ("iterations", Right),
        ("power", Right),
        ("cost", Right),
    ]);
    let mut table = Table::new(&columns).dispensable(&["mean", "suite", "burn-in"]);
    for line in &plan.lines {
        for (slowdown, found) in &line.choice.found {
            let choice = &line.choice;
            let mut cells = vec![choice.benchmark.clone()];
            if suites {
                cells.push(choice.suite.clone());
            }
            if settings {
                cells.push(choice.setting.text().unwrap_or_default());
            }
            if metrics {
                cells.push(choice.name.clone());
            }
            cells.push(quantity(choice.variability.mean, &choice.metric.unit));
            cells.push(choice.burn_in.to_string());
            if several {
                cells.push(round_percent(slowdown - 1.0));
            }
            match found {
                Ok(chosen) => {
                    let cost = choice.costs.map(|it| it.of(chosen.configuration));
                    cells.push(chosen.configuration.instances.to_string());
                    cells.push(chosen.configuration.iterations.to_string());
                    cells.push(power_text(chosen));
                    cells.push(cost.map_or("–".to_owned(), time_text) + fate_text(line));
                }
                Err(_) => cells.extend(["–", "–", "–", "–"].map(str::to_owned)),
            }
            table.row(cells);
        }
    }
    table
}

fn slowdowns(plan: &Plan) -> Vec<f64> {
    let all = plan.lines.iter().flat_map(|line| &line.choice.found);
    all.map(|it| it.0).collect()
}

/// Returns `97 % [95–98]` of a simulation, `~97 %` by formula.
pub fn power_text(chosen: &lapwing_core::explain::Chosen) -> String {
    let value = percent(chosen.power.value);
    match chosen.power.interval {
        Some(interval) => {
            let end = |share: f64| format!("{:.0}", 100.0 * share);
            format!("{value} [{}–{}]", end(interval.lower), end(interval.upper))
        }
        None => format!("~{value}"),
    }
}

fn fate_text(line: &Line) -> &'static str {
    match line.fate {
        Fate::Kept | Fate::Unable => "",
        Fate::BeyondBudget => " (beyond)",
        Fate::Skipped => " (skipped)",
    }
}

/// More benchmarks than this are told by the table alone.
const NAMES: usize = 3;

fn few(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMES)].join(", ");
    match names.len().checked_sub(NAMES) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

/// Returns what there is to say below the table.
pub fn notes(plan: &Plan, options: &PlanOptions, command: &PlanCommand) -> Vec<String> {
    let view = DetectionView::of(&options.detection, 1.05, options.power);
    let mut notes = vec![format!(
        "{}, false positives at most {} as far as can be told; costs are those of one version",
        view.basis(),
        round_percent(options.false_positives)
    )];
    let shared = super::document::shared(plan);
    if !shared.is_empty() {
        notes.push(format!(
            "a plan has one entry for each benchmark, that of the line that takes most: {}",
            few(&shared)
        ));
    }
    notes.extend(beyond_band_note(command.smallest_effect));
    let by_formula = plan.kept().filter_map(Line::first);
    if by_formula
        .into_iter()
        .any(|(_, chosen)| chosen.power.interval.is_none())
    {
        notes.push("~ is by formula: too little was measured to simulate so much".to_owned());
    }
    let beyond: Vec<String> = plan
        .of(Fate::BeyondBudget)
        .map(|it| it.choice.benchmark.clone())
        .collect();
    if !beyond.is_empty() {
        notes.push(format!(
            "beyond the budget: {}; all of them would take {} more",
            few(&beyond),
            cost_text(plan.cost_of(Fate::BeyondBudget), command)
        ));
    }
    for (why, names) in unable(plan, options) {
        notes.push(format!("{why}: {}", few(&names)));
    }
    let untimed = plan.kept().filter(|line| line.cost().is_none()).count();
    if untimed > 0 {
        notes.push(format!(
            "it is not known what {} would take: no wall time was recorded",
            counted(untimed as u64, "benchmark")
        ));
    }
    if plan.kept().next().is_none() {
        notes.push("`lapwing mds` shows what could be detected, and with how much".to_owned());
    }
    if command.write.is_none() && command.update_suite.is_none() && plan.kept().next().is_some() {
        notes.push("--write FILE keeps the plan, and `lapwing run --plan FILE` runs it".to_owned());
    }
    notes
}

/// Returns what is to be known where the suite says which changes matter.
pub fn beyond_band_note(smallest_effect: Option<f64>) -> Option<String> {
    smallest_effect.map(|it| {
        let band = round_percent(it);
        format!(
            "the suite's smallest effect is {band}: `lapwing compare` calls a regression only what lies wholly beyond it, and a \
             slowdown of just {band} stays inconclusive; plan for more than that"
        )
    })
}

/// Returns why benchmarks are not planned, and which.
fn unable(plan: &Plan, options: &PlanOptions) -> Vec<(String, Vec<String>)> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for line in plan.of(Fate::Unable) {
        let Some((_, why)) = line.unable() else {
            continue;
        };
        let mut name = line.choice.benchmark.clone();
        let reason = match why {
            Unable::NoiseUnknown => {
                "not known how they vary (it takes three instances of two iterations, and values above zero)"
            }
            Unable::TooMany(configuration) => {
                let cost = line
                    .choice
                    .costs
                    .map(|it| format!(", {}", time_text(it.of(configuration))));
                name = format!("{name} ({configuration}{})", cost.unwrap_or_default());
                "would take more than --max-instances"
            }
            Unable::Never => "no number of instances would do",
            Unable::FalsePositives => match options.rule {
                ChoiceRule::Hail => "too many false positives in all of the grid",
                ChoiceRule::Cheapest(_) => {
                    "too many false positives with every configuration (--confidence 99% has fewer)"
                }
            },
            Unable::NotInGrid => "no configuration of the grid has the power",
        };
        match reasons.iter_mut().find(|it| it.0 == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason.to_owned(), vec![name])),
        }
    }
    reasons
}
