//! Comparisons as a comment on a pull request: what is decided, and the rest folded.

use std::io;

use lapwing_analyse::judge::{Comparison, Verdict};
use lapwing_model::text::{counted, grouped};

use super::CompareAnswer;
use super::table::{NameColumns, table};
use super::text::{headline, notes};
use crate::news_first;
use crate::words::verdict::numbers_text;
use crate::writing::{IntervalBar, Picture, markdown_text, picture_lines};

/// GitHub takes 65,536 characters, and templates add some.
const LONGEST: usize = 60_000;
/// The bars of a picture.
const BARS: usize = 20;
/// The width of a picture, in characters.
const WIDTH: usize = 76;

impl CompareAnswer {
    /// Returns a comment of at most 60,000 characters: a sentence, the rows that differ with a picture of their intervals,
    /// and below folds the other rows and the notes; with a link to a report, if it has an address.
    ///
    /// # Errors
    ///
    /// If text cannot be written into memory.
    pub fn comment(&self, report: Option<&str>) -> io::Result<String> {
        let mut comparisons: Vec<&Comparison> = self.comparisons.iter().collect();
        comparisons.sort_by(|one, other| news_first(one, other));
        let is_news = |it: &&Comparison| {
            matches!(
                it.verdict,
                Verdict::Regression
                    | Verdict::Improvement
                    | Verdict::Changed
                    | Verdict::WorseInRuns
                    | Verdict::BetterInRuns
                    | Verdict::NotMeasured
            )
        };
        let (news, others): (Vec<&Comparison>, Vec<&Comparison>) =
            comparisons.into_iter().partition(is_news);
        let mut text = format!("**{}**\n", markdown_text(&headline(self)));
        if let Some(address) = report {
            text.push_str(&format!("\n[Report](<{address}>)\n"));
        }
        let notes = notes(self);
        let notes: Vec<String> = (notes.iter())
            .map(|note| format!("- {}\n", markdown_text(&note.text.replace('\n', " "))))
            .collect();
        let notes = folded("Notes", &notes.concat());
        let notes = if notes.len() > LONGEST / 4 {
            ""
        } else {
            &notes
        };
        // What differs comes first, also where there is no room for all of it.
        let room = |text: &str| LONGEST.saturating_sub(text.chars().count());
        let left = room(&text).saturating_sub(notes.chars().count());
        text.push_str(&self.rows_within(&news, left, "changes")?);
        let picture = self.picture(&news);
        if picture.chars().count() < room(&text) {
            text.push_str(&picture);
        }
        if !others.is_empty() {
            let title = numbers_text(&others);
            let left = room(&text).saturating_sub(notes.chars().count() + title.len() + 100);
            let rows = self.rows_within(&others, left, "comparisons")?;
            text.push_str(&folded(&title, &rows));
        }
        text.push_str(notes);
        Ok(text)
    }

    /// Returns a table of as many of these as have room, and the number of the others.
    fn rows_within(&self, rows: &[&Comparison], room: usize, what: &str) -> io::Result<String> {
        let mut shown = rows.len();
        while shown > 0 {
            let mut bytes = Vec::new();
            let listed = table(self, &rows[..shown], None);
            listed.table.markdown(&mut bytes)?;
            let mut text = format!("\n{}", String::from_utf8_lossy(&bytes));
            if shown < rows.len() {
                let more = grouped(rows.len() - shown);
                text.push_str(&format!("\n… and {more} more {what}\n"));
            }
            if text.chars().count() <= room {
                return Ok(text);
            }
            shown = shown * 3 / 4;
        }
        Ok(match rows.len() {
            0 => String::new(),
            number => format!("\n{} of {what}\n", counted(number, "row")),
        })
    }

    /// Returns the intervals as text, which is readable on light and dark ground.
    fn picture(&self, news: &[&Comparison]) -> String {
        let columns = NameColumns::of(self);
        let bars = news.iter().take(BARS).filter_map(|comparison| {
            let mut name = columns
                .name(comparison, true)
                .replace(char::is_control, " ");
            if columns.sides {
                name.push_str(&format!(", {}", comparison.candidate));
            }
            IntervalBar::of(name, comparison)
        });
        let bars: Vec<IntervalBar> = bars.collect();
        if bars.is_empty() {
            return String::new();
        }
        let lines = picture_lines(&[Picture::Intervals(bars)], WIDTH).join("\n");
        // A fence that no name can close.
        let longest = lines.split(|it| it != '`').map(str::len).max();
        let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
        format!("\n{fence}text\n{lines}\n{fence}\n")
    }
}

fn folded(title: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let title = markdown_text(title);
    format!(
        "\n<details><summary>{title}</summary>\n\n{}\n\n</details>\n",
        text.trim()
    )
}
