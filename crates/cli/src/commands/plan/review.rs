//! `--review`: the chosen configurations, confirmed or changed one by one.

use std::io;

use lapwing_analyse::explain::{Chosen, PlanOptions, Unable, Unmet};
use lapwing_measure::suite::{CommandLine, command_text};
use lapwing_model::text::counted;
use lapwing_show::{RowTitles, machine_time, percent, quantity, round_percent};
use lapwing_stats::Configuration;

use super::lines::{ChosenPlan, LineFate, PlanLine};
use super::text::power_text;
use crate::error::CliError;
use crate::options::Context;
use crate::review::{ReviewAnswer, ask};

/// The end of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanReview {
    /// All benchmarks were reviewed.
    Complete,
    /// The review was stopped, or the input ended.
    Stopped,
}

/// Reviews the benchmarks.
pub fn review(plan: &mut ChosenPlan, context: &Context) -> Result<PlanReview, CliError> {
    let terminal = &context.terminal;
    let mut input = io::stdin().lock();
    let mut at = 0;
    let count = plan.lines.len();
    while at < count {
        terminal.say(&shown(plan, at));
        let Some(line) = ask(prompt(&plan.lines[at]), &mut input, terminal)? else {
            terminal.say("");
            return Ok(stopped(plan, at, context));
        };
        match understand(&line) {
            Err(reason) => terminal.say(&reason),
            Ok(ReviewAnswer::Quit) => {
                return Ok(stopped(plan, at, context));
            }
            Ok(ReviewAnswer::Back) => at = at.saturating_sub(1),
            Ok(ReviewAnswer::Keep) => {
                let line = &mut plan.lines[at];
                line.fate = match line.first() {
                    Some(_) => LineFate::Kept,
                    None => LineFate::Unable,
                };
                at += 1;
            }
            Ok(ReviewAnswer::Skip) => {
                plan.lines[at].fate = LineFate::Skipped;
                at += 1;
            }
            Ok(ReviewAnswer::Change(configuration)) => {
                // Shown again with its power and cost; Enter then keeps it.
                plan.lines[at].change(configuration);
            }
        }
    }
    plan.spend();
    Ok(PlanReview::Complete)
}

/// Keeps the answers given so far, and says how to continue.
fn stopped(plan: &mut ChosenPlan, at: usize, context: &Context) -> PlanReview {
    let open = plan.lines[at..].iter();
    let mut names: Vec<&str> = open.map(|it| it.choice.benchmark.as_str()).collect();
    names.dedup();
    let rest = names.iter().map(|it| {
        let word = CommandLine::Words(vec![(*it).to_owned()]);
        format!(" -b {}", command_text(&word))
    });
    let rest: String = rest.collect();
    context.terminal.say(&format!(
        "stopped at {} of {}; the answers so far are kept. To continue with the others, add `{}` to the same command, with another file for -o",
        at + 1,
        plan.lines.len(),
        rest.trim_start(),
    ));
    for line in &mut plan.lines[at..] {
        line.fate = LineFate::Skipped;
    }
    plan.spend();
    PlanReview::Stopped
}

/// Returns the possible answers.
fn prompt(line: &PlanLine) -> &'static str {
    match line.first() {
        Some(_) => "Enter keeps, `10 x 5` changes, s skips, b goes back, q stops: ",
        None => "Enter skips, `10 x 5` plans it, b goes back, q stops: ",
    }
}

/// Returns a benchmark and its configurations.
fn shown(plan: &ChosenPlan, at: usize) -> String {
    let line = &plan.lines[at];
    let choice = &line.choice;
    let skipped = match line.fate {
        LineFate::Skipped => " (skipped)",
        LineFate::Kept | LineFate::BeyondBudget | LineFate::CostUnknown | LineFate::Unable => "",
    };
    let setting = choice.setting.text();
    let setting = setting.filter(|_| RowTitles::of(&plan.lines).settings);
    let setting = setting.map(|it| format!(", {it}"));
    let mut text = format!(
        "\n[{}/{}] {}{}{skipped}\nburn-in {}, mean {}, cv {}",
        at + 1,
        plan.lines.len(),
        choice.benchmark,
        setting.unwrap_or_default(),
        choice.burn_in,
        quantity(choice.variability.mean, &choice.metric.unit),
        percent(choice.variability.cv_total),
    );
    for (slowdown, found) in &choice.found {
        let what = match found {
            Ok(chosen) => configuration_text(line, chosen),
            Err(unmet) => unmet_text(line, unmet, &plan.options),
        };
        text.push_str(&format!("\n{}: {what}", round_percent(slowdown - 1.0)));
    }
    text
}

/// Returns the power and cost of a configuration.
fn configuration_text(line: &PlanLine, chosen: &Chosen) -> String {
    let Configuration {
        instances,
        iterations,
    } = chosen.configuration;
    let false_positives = chosen.rates.map(|rates| {
        let share = (rates.false_positives.value * 1e3).round() / 1e3;
        format!(", false positives {}", round_percent(share))
    });
    format!(
        "{} × {}: power {}{}, cost {}",
        counted(instances, "instance"),
        counted(iterations, "iteration"),
        power_text(chosen),
        false_positives.unwrap_or_default(),
        line.cost_with(chosen)
            .map_or("an unknown time".to_owned(), machine_time),
    )
}

/// Returns the closest configuration and the one that is needed.
fn unmet_text(line: &PlanLine, unmet: &Unmet, options: &PlanOptions) -> String {
    let wanted = round_percent(options.power);
    let mut text = match unmet.why {
        Unable::NoiseUnknown => {
            return "its noise is unknown, and so is what would detect this".to_owned();
        }
        Unable::TooMany | Unable::NotInGrid => format!("nothing found with a power of {wanted}"),
        Unable::FalsePositives => "too many false positives with every configuration".to_owned(),
    };
    if let Some(closest) = &unmet.closest {
        text.push_str(&format!(
            "\n  closest: {}",
            configuration_text(line, closest)
        ));
    }
    if let Some(needed) = &unmet.needed {
        text.push_str(&format!(
            "\n  it takes {}",
            configuration_text(line, needed)
        ));
    }
    text
}

fn understand(text: &str) -> Result<ReviewAnswer<Configuration>, String> {
    ReviewAnswer::parse(text, |numbers| {
        let numbers: Vec<usize> = numbers
            .split(|c: char| !c.is_ascii_digit())
            .filter(|it| !it.is_empty())
            .map_while(|it| it.parse().ok())
            .collect();
        match numbers.as_slice() {
            [instances @ 2..=100_000, iterations @ 1..=65_535] => Ok(Configuration {
                instances: *instances,
                iterations: *iterations,
            }),
            _ => Err(
                "write two numbers such as `10 x 5`: instances, and iterations of each".to_owned(),
            ),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_understood_as_people_write_them() {
        let configuration = |instances, iterations| {
            Ok(ReviewAnswer::Change(Configuration {
                instances,
                iterations,
            }))
        };
        for text in ["10 x 5", "10x5", "10 5", "10, 5", "10 × 5"] {
            assert_eq!(understand(text), configuration(10, 5), "{text}");
        }
        assert_eq!(understand(""), Ok(ReviewAnswer::Keep));
        assert_eq!(understand("s"), Ok(ReviewAnswer::Skip));
        for text in [
            "10",
            "1 x 5",
            "x",
            "10 x 0",
            "1 2 3",
            "99999999999999999999 5",
        ] {
            assert!(understand(text).is_err(), "{text}");
        }
    }
}
