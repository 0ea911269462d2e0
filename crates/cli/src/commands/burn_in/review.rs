//! `--review`: the first steady iterations, confirmed or changed one by one.

use lapwing_show::classes_text;
use std::io;

use lapwing_analyse::clean::BurnInSource;
use lapwing_model::text::{counted, grouped, plural};

use super::answer::{bias_text, cost_text, start_text};
use super::rows::BurnInRow;
use super::terminal_plot;
use super::write::BurnInWriter;
use crate::error::CliError;
use crate::options::Context;
use crate::review::{ReviewAnswer, ask};

/// The end of a round.
enum Round {
    /// With the benchmarks whose start changed: place, and start before.
    Complete(Vec<(usize, Option<u32>)>),
    Stopped,
}

struct BurnInReview<'a> {
    rows: &'a mut [BurnInRow],
    /// Whether each start is confirmed.
    settled: Vec<bool>,
    writer: &'a BurnInWriter,
    context: &'a Context,
    input: io::StdinLock<'static>,
}

/// Reviews the benchmarks until a round brings no change, and writes every answer immediately.
/// Returns whether the review was completed.
pub fn review(
    rows: &mut [BurnInRow],
    writer: &BurnInWriter,
    context: &Context,
) -> Result<bool, CliError> {
    let settled: Vec<bool> = rows
        .iter()
        .map(|row| row.source == BurnInSource::Listed)
        .collect();
    let open: Vec<usize> = (0..rows.len()).filter(|at| !settled[*at]).collect();
    let mut review = BurnInReview {
        rows,
        settled,
        writer,
        context,
        input: io::stdin().lock(),
    };
    // If all are confirmed, all are reviewed again.
    let mut places = if open.is_empty() {
        (0..review.rows.len()).collect()
    } else {
        review.say_what_is_settled(open.len());
        open
    };
    loop {
        match review.round(&places)? {
            Round::Stopped => {
                review.say_where_it_stopped();
                return Ok(false);
            }
            Round::Complete(changed) if changed.is_empty() => {
                review.say_the_end();
                return Ok(true);
            }
            Round::Complete(changed) => {
                review.say_changes(&changed);
                places = changed.into_iter().map(|(at, _)| at).collect();
            }
        }
    }
}

impl BurnInReview<'_> {
    fn round(&mut self, places: &[usize]) -> Result<Round, CliError> {
        let before: Vec<Option<u32>> = places.iter().map(|at| self.rows[*at].start).collect();
        let mut next = 0;
        while let Some(&at) = places.get(next) {
            self.show(at, next + 1, places.len());
            match self.answer(at)? {
                ReviewAnswer::Keep => self.settle(at, None)?,
                ReviewAnswer::Change(start) => self.settle(at, Some(start))?,
                ReviewAnswer::Skip => {}
                ReviewAnswer::Back => {
                    next = next.saturating_sub(1);
                    continue;
                }
                ReviewAnswer::Quit => return Ok(Round::Stopped),
            }
            next += 1;
        }
        let changed = places
            .iter()
            .zip(before)
            .filter(|(at, before)| self.rows[**at].start != *before)
            .map(|(at, before)| (*at, before));
        Ok(Round::Complete(changed.collect()))
    }

    fn show(&self, at: usize, number: usize, of: usize) {
        let row = &self.rows[at];
        let terminal = &self.context.terminal;
        terminal.say(&format!("\n[{number}/{of}] {}", row.benchmark));
        let plot = terminal_plot::lines(row, terminal.talk_width());
        for line in &plot {
            terminal.say(line);
        }
        let mut facts = format!(
            "{}\n{} in {}",
            terminal_plot::legend(row, &plot),
            classes_text(&row.steady),
            counted(row.instances.len(), "instance"),
        );
        if row.start.is_some() {
            facts.push_str(&format!("; burn-in costs {} per instance", cost_text(row)));
        }
        if row.start.is_some() && row.bias_without.is_some() {
            facts.push_str(&format!(", bias without → with it {}", bias_text(row)));
        }
        terminal.say(&facts);
    }

    /// Asks until the answer is valid; the end of the input stops the review.
    fn answer(&mut self, at: usize) -> Result<ReviewAnswer<u32>, CliError> {
        let row = &self.rows[at];
        let terminal = &self.context.terminal;
        let proposal = match row.start {
            Some(_) => format!("steady from {}", start_text(row)),
            None => "never steady".to_owned(),
        };
        loop {
            let question = format!(
                "{proposal}  (Enter keeps, a number changes, s skips, b goes back, q stops): "
            );
            let Some(line) = ask(&question, &mut self.input, terminal)? else {
                terminal.say("");
                return Ok(ReviewAnswer::Quit);
            };
            match understand(&line, row.longest()) {
                Ok(answer) => return Ok(answer),
                Err(reason) => terminal.say(&reason),
            }
        }
    }

    /// Confirms the number, or the proposal, and writes it.
    fn settle(&mut self, at: usize, start: Option<u32>) -> Result<(), CliError> {
        let row = &mut self.rows[at];
        if let Some(start) = start
            && row.known_start() != Some(start)
        {
            row.decide(Some(start), BurnInSource::Reviewed);
        }
        self.settled[at] = true;
        self.writer.write(self.rows, |at| self.settled[at])
    }

    fn say(&self, text: &str) {
        self.context.terminal.say(text);
    }

    fn say_what_is_settled(&self, open: usize) {
        let settled = self.rows.len() - open;
        if settled > 0 {
            self.say(&format!(
                "the burn-in file already has {} of {}; the others follow",
                grouped(settled),
                counted(self.rows.len(), "benchmark")
            ));
        }
    }

    fn say_changes(&self, changed: &[(usize, Option<u32>)]) {
        let text = |start: Option<u32>| start.map_or("never".to_owned(), |it| it.to_string());
        let changes: Vec<String> = changed
            .iter()
            .map(|(at, before)| {
                let row = &self.rows[*at];
                format!("{} {} → {}", row.benchmark, text(*before), text(row.start))
            })
            .collect();
        self.say(&format!(
            "\nchanged: {}; review {} again",
            changes.join(", "),
            plural(changed.len(), "it", "them")
        ));
    }

    fn say_where_it_stopped(&self) {
        let path = self.writer.path().display();
        let settled = self.settled.iter().filter(|it| **it).count();
        if settled == 0 {
            self.say("\nstopped: nothing was written");
        } else {
            self.say(&format!(
                "\nstopped: {path} has {} of {}; to continue, run the same command with `--burn-in-file {path}`\n",
                grouped(settled),
                counted(self.rows.len(), "benchmark"),
            ));
        }
    }

    fn say_the_end(&self) {
        self.say(&format!(
            "\nno more changes: {} is complete; use it with --clean burn_in_file=FILE",
            self.writer.path().display()
        ));
        self.writer.say_what_is_missing(self.rows, self.context);
        self.writer.say_what_is_shared(self.rows, self.context);
        let skipped: Vec<&str> = self
            .rows
            .iter()
            .zip(&self.settled)
            .filter(|(row, settled)| !**settled && row.known_start().is_some())
            .map(|(row, _)| row.benchmark.as_str())
            .collect();
        if !skipped.is_empty() {
            let skipped = skipped.join(", ");
            self.context.terminal.note(&format!("skipped: {skipped}"));
        }
        self.say("");
    }
}

/// Returns the answer of a line for a benchmark with that number of iterations.
fn understand(line: &str, iterations: u32) -> Result<ReviewAnswer<u32>, String> {
    ReviewAnswer::parse(line, |number| match number.parse::<u32>() {
        Ok(start) if start < iterations => Ok(start),
        Ok(_) => Err(format!(
            "its iterations are 0 to {}",
            iterations.saturating_sub(1)
        )),
        Err(_) => Err("write the number of the first steady iteration, or s, b or q".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_understood_or_asked_again() {
        let of = |line| understand(line, 60);
        assert_eq!(of(""), Ok(ReviewAnswer::Keep));
        assert_eq!(of("59"), Ok(ReviewAnswer::Change(59)));
        assert_eq!(of("60").expect_err("beyond"), "its iterations are 0 to 59");
        assert_eq!(of("q"), Ok(ReviewAnswer::Quit));
        assert!(of("five").is_err());
        assert!(of("-1").is_err());
    }
}
