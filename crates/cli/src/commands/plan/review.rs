//! `--review`: the chosen configurations, confirmed or changed one by one.

use lapwing_analyse::explain::{
    BudgetedPlan, Chosen, LineFate, PlanLine, PlanOptions, Unable, Unmet,
};
use lapwing_measure::suite::{CommandLine, command_text};
use lapwing_model::text::counted;
use lapwing_show::answers::plan::power_text;
use lapwing_show::{RowTitles, machine_time, percent, quantity, round_percent};
use lapwing_stats::Configuration;

use crate::error::CliError;
use crate::options::Context;
use crate::review::{Review, ReviewAnswer, ReviewStep, review as review_items};

/// Reviews the benchmarks. Returns whether the review was completed.
pub fn review(plan: &mut BudgetedPlan, context: &Context) -> Result<bool, CliError> {
    let items: Vec<usize> = (0..plan.lines.len()).collect();
    let end = review_items(plan, &items, &context.terminal)?;
    if let Some(at) = end {
        stop(plan, at, context);
    }
    plan.spend();
    Ok(end.is_none())
}

/// Keeps the answers given so far, and says how to continue.
fn stop(plan: &mut BudgetedPlan, at: usize, context: &Context) {
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
}

impl Review<Configuration> for BudgetedPlan {
    fn shown(&self, at: usize) -> String {
        let line = &self.lines[at];
        let choice = &line.choice;
        let skipped = match line.fate {
            LineFate::Skipped => " (skipped)",
            LineFate::Kept | LineFate::BeyondBudget | LineFate::CostUnknown | LineFate::Unable => {
                ""
            }
        };
        let setting = choice.setting.text();
        let setting = setting.filter(|_| RowTitles::of(&self.lines).settings);
        let setting = setting.map(|it| format!(", {it}"));
        let mut text = format!(
            "{}{}{skipped}\nburn-in {}, mean {}, cv {}",
            choice.benchmark,
            setting.unwrap_or_default(),
            choice.burn_in,
            quantity(choice.variability.mean, &choice.metric.unit),
            percent(choice.variability.cv_total),
        );
        for (slowdown, found) in &choice.found {
            let what = match found {
                Ok(chosen) => configuration_text(line, chosen),
                Err(unmet) => unmet_text(line, unmet, &self.options),
            };
            text.push_str(&format!("\n{}: {what}", round_percent(slowdown - 1.0)));
        }
        text
    }

    fn question(&self, at: usize) -> String {
        let answers = match self.lines[at].first() {
            Some(_) => "Enter keeps, `10 x 5` changes, s skips, b goes back, q stops: ",
            None => "Enter skips, `10 x 5` plans it, b goes back, q stops: ",
        };
        answers.to_owned()
    }

    fn parse(&self, _: usize, line: &str) -> Result<Configuration, String> {
        configuration_of(line)
    }

    fn take(
        &mut self,
        at: usize,
        answer: ReviewAnswer<Configuration>,
    ) -> Result<ReviewStep, CliError> {
        let line = &mut self.lines[at];
        match answer {
            ReviewAnswer::Keep => {
                line.fate = match line.first() {
                    Some(_) => LineFate::Kept,
                    None => LineFate::Unable,
                };
            }
            ReviewAnswer::Skip => line.fate = LineFate::Skipped,
            ReviewAnswer::Change(configuration) => {
                // Shown again with its power and cost; Enter then keeps it.
                line.change(configuration);
                return Ok(ReviewStep::Again);
            }
        }
        Ok(ReviewStep::Next)
    }
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

fn configuration_of(text: &str) -> Result<Configuration, String> {
    let numbers: Vec<usize> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|it| !it.is_empty())
        .map_while(|it| it.parse().ok())
        .collect();
    match numbers.as_slice() {
        [instances @ 2..=100_000, iterations @ 1..=65_535] => Ok(Configuration {
            instances: *instances,
            iterations: *iterations,
        }),
        _ => {
            Err("write two numbers such as `10 x 5`: instances, and iterations of each".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_understood_as_people_write_them() {
        let expected = Configuration {
            instances: 10,
            iterations: 5,
        };
        for text in ["10 x 5", "10x5", "10 5", "10, 5", "10 × 5"] {
            assert_eq!(configuration_of(text), Ok(expected), "{text}");
        }
        for text in [
            "10",
            "1 x 5",
            "x",
            "10 x 0",
            "1 2 3",
            "99999999999999999999 5",
        ] {
            assert!(configuration_of(text).is_err(), "{text}");
        }
    }
}
