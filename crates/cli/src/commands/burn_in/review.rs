//! `--review`: the first steady iterations, confirmed or changed one by one.

use lapwing_analyse::clean::BurnInSource;
use lapwing_analyse::explain::BenchmarkBurnIn;
use lapwing_model::text::{counted, grouped, plural};
use lapwing_show::answers::burn_in::{bias_text, cost_text, start_text};
use lapwing_show::classes_text;

use super::terminal_plot;
use super::write::BurnInWriter;
use crate::error::CliError;
use crate::options::Context;
use crate::review::{Review, ReviewAnswer, ReviewStep, review as review_items};

struct BurnInReview<'a> {
    rows: &'a mut [BenchmarkBurnIn],
    /// Whether each start is confirmed.
    settled: Vec<bool>,
    writer: &'a BurnInWriter,
    context: &'a Context,
}

/// Reviews the benchmarks until a round brings no change, and writes every answer immediately.
/// Returns whether the review was completed.
pub fn review(
    rows: &mut [BenchmarkBurnIn],
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
    };
    // If all are confirmed, all are reviewed again.
    let mut items = if open.is_empty() {
        (0..review.rows.len()).collect()
    } else {
        if open.len() < review.rows.len() {
            review.say(&format!(
                "the burn-in file already has {} of {}; the others follow",
                grouped(review.rows.len() - open.len()),
                counted(review.rows.len(), "benchmark")
            ));
        }
        open
    };
    loop {
        let before: Vec<Option<u32>> = items.iter().map(|at| review.rows[*at].start).collect();
        if review_items(&mut review, &items, &context.terminal)?.is_some() {
            review.say_where_it_stopped();
            return Ok(false);
        }
        let changed: Vec<(usize, Option<u32>)> = items
            .into_iter()
            .zip(before)
            .filter(|(at, before)| review.rows[*at].start != *before)
            .collect();
        if changed.is_empty() {
            review.say_the_end();
            return Ok(true);
        }
        review.say_changes(&changed);
        items = changed.into_iter().map(|(at, _)| at).collect();
    }
}

impl Review<u32> for BurnInReview<'_> {
    fn shown(&self, at: usize) -> String {
        let row = &self.rows[at];
        let plot = terminal_plot::lines(row, self.context.terminal.talk_width());
        let mut text = row.benchmark.clone();
        for line in &plot {
            text.push_str(&format!("\n{line}"));
        }
        text.push_str(&format!(
            "\n{}\n{} in {}",
            terminal_plot::legend(row, &plot),
            classes_text(&row.steady),
            counted(row.instances.len(), "instance"),
        ));
        if row.start.is_some() {
            text.push_str(&format!("; burn-in costs {} per instance", cost_text(row)));
        }
        if row.start.is_some() && row.bias_without.is_some() {
            text.push_str(&format!(", bias without → with it {}", bias_text(row)));
        }
        text
    }

    fn question(&self, at: usize) -> String {
        let row = &self.rows[at];
        let proposal = match row.start {
            Some(_) => format!("steady from {}", start_text(row)),
            None => "never steady".to_owned(),
        };
        format!("{proposal}  (Enter keeps, a number changes, s skips, b goes back, q stops): ")
    }

    fn parse(&self, at: usize, line: &str) -> Result<u32, String> {
        start_of(line, self.rows[at].longest())
    }

    /// Confirms the number, or the proposal, and writes it.
    fn take(&mut self, at: usize, answer: ReviewAnswer<u32>) -> Result<ReviewStep, CliError> {
        let row = &mut self.rows[at];
        match answer {
            ReviewAnswer::Skip => return Ok(ReviewStep::Next),
            ReviewAnswer::Change(start) if row.known_start() != Some(start) => {
                row.decide(Some(start), BurnInSource::Reviewed);
            }
            ReviewAnswer::Change(_) | ReviewAnswer::Keep => {}
        }
        self.settled[at] = true;
        self.writer
            .write(self.rows, |at| self.settled[at], self.context)?;
        Ok(ReviewStep::Next)
    }
}

impl BurnInReview<'_> {
    fn say(&self, text: &str) {
        self.context.terminal.say(text);
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

/// Returns the start in a line, for a benchmark with that number of iterations.
fn start_of(line: &str, iterations: u32) -> Result<u32, String> {
    match line.parse::<u32>() {
        Ok(start) if start < iterations => Ok(start),
        Ok(_) => Err(format!(
            "its iterations are 0 to {}",
            iterations.saturating_sub(1)
        )),
        Err(_) => Err("write the number of the first steady iteration, or s, b or q".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_understood_or_asked_again() {
        let of = |line| start_of(line, 60);
        assert_eq!(of("59"), Ok(59));
        assert_eq!(of("60").expect_err("beyond"), "its iterations are 0 to 59");
        assert!(of("five").is_err());
        assert!(of("-1").is_err());
    }
}
