//! The comparisons that a view lists, and those that are folded into a line.

use std::collections::BTreeSet;

use lapwing_analyse::judge::{Comparison, Verdict};

use super::CompareAnswer;
use crate::answers::subject_title;
use crate::news_first;
use crate::words::verdict::is_unchanged;
use crate::writing::View;

/// Of more comparisons only changes are listed.
const ALL_UP_TO: usize = 40;

/// Maximum number of listed changes.
const SHOWN: usize = 200;

/// Fewer rows are not worth a line that stands for them.
const FOLDED_FROM: usize = 3;

/// The comparisons that are listed, changes first, and the others.
#[derive(Debug)]
pub struct ListedComparisons<'a> {
    /// The listed ones.
    pub rows: Vec<&'a Comparison>,
    /// The others.
    pub hidden: Vec<&'a Comparison>,
}

impl<'a> ListedComparisons<'a> {
    fn new(answer: &'a CompareAnswer, rows: Vec<&'a Comparison>) -> Self {
        let listed: BTreeSet<*const Comparison> =
            rows.iter().map(|row| std::ptr::from_ref(*row)).collect();
        let all = answer.comparisons.iter();
        let hidden = all.filter(|it| !listed.contains(&std::ptr::from_ref(*it)));
        Self {
            hidden: hidden.collect(),
            rows,
        }
    }
}

/// Returns what people see of the listed comparisons: no row for what is unchanged, nor for an undecided metric of a
/// benchmark that has a row by another metric.
pub fn shown(answer: &CompareAnswer, view: View) -> ListedComparisons<'_> {
    let listed = listed(answer, view);
    if view.full || !listed.hidden.is_empty() {
        return listed;
    }
    let mut known = BTreeSet::new();
    let (news, folded): (Vec<&Comparison>, Vec<&Comparison>) =
        listed.rows.iter().partition(|comparison| {
            let subject = &comparison.subject;
            let is_undecided =
                comparison.verdict == Verdict::Inconclusive && comparison.ratio.is_some();
            !is_unchanged(comparison)
                && (known.insert((
                    &subject.suite,
                    subject_title(subject),
                    &comparison.baseline,
                    &comparison.candidate,
                )) || !is_undecided)
        });
    if folded.len() < FOLDED_FROM {
        return listed;
    }
    ListedComparisons::new(answer, news)
}

/// Returns the comparisons that people and programs get: all, or of many the changes.
pub fn listed(answer: &CompareAnswer, view: View) -> ListedComparisons<'_> {
    let mut listed: Vec<&Comparison> = answer.comparisons.iter().collect();
    listed.sort_by(|one, other| news_first(one, other));
    if view.full || listed.len() <= ALL_UP_TO {
        return ListedComparisons::new(answer, listed);
    }
    let mut kept = 0;
    listed.retain(|comparison| {
        let is_news = match comparison.verdict {
            Verdict::Regression
            | Verdict::Improvement
            | Verdict::WorseInRuns
            | Verdict::BetterInRuns
            | Verdict::Changed
            | Verdict::NotMeasured => kept < SHOWN,
            Verdict::Equivalent | Verdict::UnchangedInRuns | Verdict::Inconclusive => false,
        };
        kept += usize::from(is_news);
        is_news
    });
    if !listed.is_empty() {
        return ListedComparisons::new(answer, listed);
    }
    // Nothing is decided: then the largest differences say the most.
    let change = |comparison: &Comparison| {
        let descriptive = comparison.descriptive.as_ref().map(|ratio| ratio.value);
        let ratio = comparison.ratio.map(|ratio| ratio.value).or(descriptive);
        ratio.map_or(0.0, |ratio| ratio.ln().abs())
    };
    listed = answer.comparisons.iter().collect();
    listed.retain(|comparison| change(comparison) > 0.0);
    listed.sort_by(|one, other| change(other).total_cmp(&change(one)));
    listed.truncate(ALL_UP_TO);
    ListedComparisons::new(answer, listed)
}
