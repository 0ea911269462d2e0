//! `--review`: people look at one benchmark after another, and keep or change what was chosen.

use std::io::{self, BufRead, IsTerminal};

use lapwing_core::explain::PlanOptions;
use lapwing_core::show::{quantity, round_percent};
use lapwing_stats::Configuration;

use super::budget::{Fate, Plan};
use super::text::{power_text, time_text};
use crate::error::CliError;
use crate::options::Context;
use crate::table::counted;

/// What somebody says of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Keep,
    Configuration(Configuration),
    Skip,
    Back,
    Quit,
}

/// Goes through the benchmarks. Returns whether it came to the end.
pub fn review(plan: &mut Plan, options: &PlanOptions, context: &Context) -> Result<bool, CliError> {
    let terminal = &context.terminal;
    let mut input = io::stdin().lock();
    let mut at = 0;
    let count = plan.lines.len();
    while at < count {
        show(plan, at, options, context);
        terminal.ask("Enter keeps, `10 x 5` changes, s skips, b goes back, q stops: ");
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            terminal.say("");
            return Ok(false);
        }
        if !io::stdin().is_terminal() {
            // Nobody pressed Enter on the screen.
            terminal.say(line.trim());
        }
        match understand(line.trim()) {
            Err(reason) => terminal.say(&reason),
            Ok(Answer::Quit) => return Ok(false),
            Ok(Answer::Back) => at = at.saturating_sub(1),
            Ok(Answer::Keep) => {
                plan.lines[at].fate = Fate::Kept;
                at += 1;
            }
            Ok(Answer::Skip) => {
                plan.lines[at].fate = Fate::Skipped;
                at += 1;
            }
            Ok(Answer::Configuration(configuration)) => {
                // It is shown again with its power and cost, and Enter then keeps it.
                if plan.lines[at].choice.change(configuration, options) {
                    plan.lines[at].fate = Fate::Kept;
                } else {
                    terminal.say("it is not known how this benchmark varies, and so not what that would detect");
                }
            }
        }
    }
    plan.spend();
    Ok(true)
}

fn show(plan: &Plan, at: usize, options: &PlanOptions, context: &Context) {
    let (terminal, line) = (&context.terminal, &plan.lines[at]);
    let choice = &line.choice;
    terminal.say(&format!(
        "\n[{}/{}] {}\nburn-in {}, mean {}, cv {:.3}",
        at + 1,
        plan.lines.len(),
        choice.benchmark,
        choice.burn_in,
        quantity(choice.variability.mean, &choice.metric.unit),
        choice.variability.cv_total,
    ));
    for (slowdown, found) in &choice.found {
        let what = match found {
            Ok(chosen) => {
                let cost = choice.costs.map(|it| it.of(chosen.configuration));
                format!(
                    "{} × {}: power {}, false positives {}, takes {}",
                    counted(chosen.configuration.instances as u64, "instance"),
                    counted(chosen.configuration.iterations as u64, "iteration"),
                    power_text(chosen),
                    round_percent((chosen.false_positives.value * 1e3).round() / 1e3),
                    cost.map_or("an unknown time".to_owned(), time_text),
                )
            }
            Err(_) => format!(
                "nothing found with a power of {}",
                round_percent(options.power)
            ),
        };
        terminal.say(&format!("{}: {what}", round_percent(slowdown - 1.0)));
    }
}

fn understand(text: &str) -> Result<Answer, String> {
    match text {
        "" => return Ok(Answer::Keep),
        "s" => return Ok(Answer::Skip),
        "b" => return Ok(Answer::Back),
        "q" => return Ok(Answer::Quit),
        _ => {}
    }
    let numbers: Vec<usize> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|it| !it.is_empty())
        .map_while(|it| it.parse().ok())
        .collect();
    match numbers.as_slice() {
        [instances @ 2..=100_000, iterations @ 1..=65_535] => {
            Ok(Answer::Configuration(Configuration {
                instances: *instances,
                iterations: *iterations,
            }))
        }
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
        let configuration = |instances, iterations| {
            Ok(Answer::Configuration(Configuration {
                instances,
                iterations,
            }))
        };
        for text in ["10 x 5", "10x5", "10 5", "10, 5", "10 × 5"] {
            assert_eq!(understand(text), configuration(10, 5), "{text}");
        }
        assert_eq!(understand(""), Ok(Answer::Keep));
        assert_eq!(understand("s"), Ok(Answer::Skip));
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
