//! The answer of the history of one benchmark: its worst open change, or that nothing changed.

use crate::FindingText;
use maud::{Markup, html};

use super::words::{since_text, subject_text};
use super::{ChangesView, FindingSentence};
use crate::report::headline::{Headline, News};
use crate::report::picture::HistoryPicture;
use crate::sample::FIRST_METRIC;
use crate::suspicion_text;
use crate::words::detected::known_step;
use lapwing_analyse::detect::{
    Direction, FAILURES, Finding, HistorySeries, SeriesState, UnjudgedReason,
};
use lapwing_model::text::{capitalised, counted, plural};

impl ChangesView {
    /// Returns the open findings of a benchmark, the worst first: its own before those that its suite shares,
    /// regressions first, then the largest.
    pub(super) fn open_of(&self, slug: &str) -> Vec<usize> {
        let of_benchmark = self.of_benchmark(slug).iter().copied();
        let mut open: Vec<usize> = of_benchmark
            .filter(|at| self.finding(*at).is_open())
            .collect();
        open.sort_by(|one, other| {
            let rank = |at: usize| (self.is_shared(at), self.finding(at).direction);
            let size = |at: usize| self.finding(at).size.relative();
            let by_rank = rank(*one).cmp(&rank(*other));
            by_rank.then_with(|| size(*other).total_cmp(&size(*one)))
        });
        open
    }

    fn is_shared(&self, finding: usize) -> bool {
        self.detection.groups[self.cause_of[finding]].is_shared
    }

    /// Returns the histories of a benchmark with their states.
    fn histories_of(&self, slug: &str) -> impl Iterator<Item = (&HistorySeries, SeriesState)> {
        let places = self.series_of.get(slug).into_iter().flatten();
        places.map(|at| (&self.histories.series[*at], self.detection.states[*at]))
    }

    /// Returns whether a benchmark has changes besides the one that is its headline.
    pub(in crate::report) fn has_more_than_headline(&self, slug: &str) -> bool {
        let open = self.open_of(slug).len();
        let closed = self.of_benchmark(slug).len() - open;
        open > 1 || closed > 0
    }

    /// Returns whether a history of the benchmark was judged.
    pub(in crate::report) fn is_judged(&self, slug: &str) -> bool {
        self.histories_of(slug)
            .any(|(_, state)| state.unjudged().is_none())
    }

    /// Returns why no history of the benchmark was judged.
    pub(in crate::report) fn unjudged_text(&self, slug: &str) -> Option<&'static str> {
        let reasons = self.histories_of(slug).map(|(_, state)| state.unjudged());
        // The first metric comes first among equals.
        let reason = reasons.min()??;
        Some(unjudged_words(reason))
    }

    /// Returns the answer of the history of a benchmark; `None` if nothing was found and none of its histories was
    /// judged.
    pub(in crate::report) fn headline_of(&self, slug: &str) -> Option<Headline> {
        let open = self.open_of(slug);
        if let Some((worst, others)) = open.split_first() {
            let unjudged = self.unjudged_text(slug);
            let unknown =
                unjudged.map(|why| html! { "Nothing is known of its newest runs: " (why) "." });
            let mut headline = self.change_headline(*worst, others.len());
            headline.facts.extend(unknown);
            return Some(headline);
        }
        if let Some(suspected) = self.suspicion_headline(slug) {
            return Some(suspected);
        }
        let judged = self.histories_of(slug);
        let mut judged: Vec<&HistorySeries> = judged
            .filter(|(_, state)| state.unjudged().is_none())
            .map(|(series, _)| series)
            .collect();
        judged.sort_by_key(|it| {
            let runs = std::cmp::Reverse(it.points.len());
            (it.subject.metric != FIRST_METRIC, runs)
        });
        let longest = judged.first()?;
        let runs = counted(longest.points.len(), "run");
        let closed = self.of_benchmark(slug).len();
        let (answer, known) = match closed {
            0 => (format!("No change in {runs}"), None),
            _ => {
                let changes = counted(closed, "change");
                let known = html! { a href="#history-changes" { (changes) } " " (plural(closed, "is", "are")) " known, undone or explained." };
                (format!("No new change in {runs}"), Some(known))
            }
        };
        Some(Headline {
            facts: known.into_iter().collect(),
            picture: Some(self.picture_of_series(longest).large()),
            ..Headline::new(News::Nothing, html! { (answer) })
        })
    }

    fn picture_of_series(&self, series: &HistorySeries) -> HistoryPicture {
        HistoryPicture {
            values: series.points.iter().map(|it| it.value).collect(),
            levels: None,
            news: News::Nothing,
            unit: series.metric.unit.clone(),
        }
    }

    /// Returns the headline of the worst open change of a benchmark with so many others.
    fn change_headline(&self, worst: usize, others: usize) -> Headline {
        let finding = self.finding(worst);
        let is_shared = self.is_shared(worst);
        let news = if is_shared {
            News::Nothing
        } else {
            News::of(finding.direction)
        };
        let mut facts = Vec::new();
        if is_shared {
            facts.push(html! { "Most of the suite changed there too: look for a change of the machine first." });
        }
        facts.extend(self.levels(finding));
        if others > 0 {
            facts.push(
                html! { a href="#history-changes" { (counted(others, "more open change")) } },
            );
        }
        let what = format!("{}{}", subject_text(finding), finding.sentence());
        let answer = html! {
            (capitalised(&what)) " " a href=(format!("../{}", self.link(worst))) { (since_text(self, finding)) }
        };
        let id = self.id(finding);
        Headline {
            facts,
            picture: Some(self.picture_of(finding, is_shared).large()),
            next: Some(known_step(&self.program, &id, is_shared, "it")),
            ..Headline::new(news, answer)
        }
    }

    /// Returns the levels before and after a change: means of many runs, which the latest value is not.
    fn levels(&self, finding: &Finding) -> Option<Markup> {
        if finding.subject.metric == FAILURES {
            return None;
        }
        let [before, after] = finding.level_texts();
        let [runs_before, runs_after] = finding.runs;
        Some(html! {
            "Level " (before) " in " (counted(runs_before, "run")) " before, " strong { (after) } " in " (counted(runs_after, "run")) " since."
        })
    }

    fn suspicion_headline(&self, slug: &str) -> Option<Headline> {
        let mut all = self.detection.suspicions.iter();
        let it = all.find(|it| {
            let subject = &it.finding.subject;
            super::slug(&subject.suite, &subject.benchmark) == slug
        })?;
        let finding = &it.finding;
        let news = match finding.direction {
            Direction::Regression => News::Suspected,
            Direction::Improvement | Direction::Neither => News::Nothing,
        };
        let what = format!("{}{}", subject_text(finding), finding.sentence());
        let picture = HistoryPicture {
            news,
            ..self.picture_of(finding, false)
        };
        Some(Headline {
            facts: vec![
                html! { (suspicion_text(&self.histories, it)) ". The next runs confirm it or not." },
            ],
            picture: Some(picture.large()),
            ..Headline::new(news, html! { "Suspected: " (what) })
        })
    }
}

/// Returns why a history was not judged.
pub(in crate::report) fn unjudged_words(reason: UnjudgedReason) -> &'static str {
    match reason {
        UnjudgedReason::NotMeasured => "not measured in the latest 3 runs",
        UnjudgedReason::NothingUsable => "no usable value in the latest 3 runs",
        UnjudgedReason::NeverUsable => "it failed from the first run on",
        UnjudgedReason::TooFew => "too few runs (10 are needed)",
        UnjudgedReason::Wanders => "its level wanders",
        UnjudgedReason::NoOrder => "its runs are in no known order",
    }
}
