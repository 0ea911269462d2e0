//! The answer of a history: its worst change in words and as a picture, and the command that continues.

use maud::{Markup, html};

use super::ChangesView;
use super::causes::heading;
use super::words::since_text;
use crate::report::headline::News;
use crate::report::picture::{HistoryPicture, PictureLevel};
use crate::words::detected::{accept_step, known_step};
use crate::writing::NextStep;
use lapwing_analyse::detect::{Direction, FAILURES, Finding, FindingGroup};

/// More open causes are only on the page of changes.
const SHOWN_OPEN: usize = 12;

impl ChangesView {
    /// Returns the causes with a finding that nothing is known of yet, in the order of the page, but with those that a
    /// suite shares, and that its machine likely made, last.
    pub(in crate::report) fn open_causes(&self) -> Vec<&FindingGroup> {
        let is_open = |group: &&FindingGroup| {
            let mut findings = group.findings.iter();
            findings.any(|at| self.finding(*at).is_open())
        };
        let listed = self.listed_causes().iter().filter(is_open);
        let (shared, mut own): (Vec<_>, Vec<_>) = listed.partition(|group| group.is_shared);
        own.extend(shared);
        own
    }

    /// Returns the kind of news that the history has. What a suite shares is none: its machine likely made it.
    pub(in crate::report) fn news(&self) -> News {
        let own = self.open_causes().into_iter();
        let of_causes = own
            .filter(|group| !group.is_shared)
            .map(|group| News::of(self.lead(group).direction));
        let suspicions = self.detection.suspicions.iter();
        let suspected = suspicions.map(|it| match it.finding.direction {
            Direction::Regression => News::Suspected,
            Direction::Improvement | Direction::Neither => News::Nothing,
        });
        of_causes.chain(suspected).min().unwrap_or_default()
    }

    /// Returns the open cause that is looked at first.
    fn worst(&self) -> Option<&FindingGroup> {
        self.open_causes().into_iter().next()
    }

    /// Returns the worst open change in words, with a link to it.
    pub(in crate::report) fn worst_fact(&self) -> Option<Markup> {
        let group = self.worst()?;
        let lead = self.lead(group);
        Some(html! {
            a href=(self.link(group.lead())) { (heading(self, group)) } ", " (since_text(self, lead)) "."
        })
    }

    /// Returns the command of `lapwing detect` that continues: it accepts an old history, or marks the worst
    /// change as known.
    pub(in crate::report) fn next_step(&self) -> Option<NextStep> {
        let past = self.detection.unreviewed_past(&self.histories);
        let accepted = past.and_then(|past| self.detection.acceptance(&self.histories, &past));
        if let Some(acceptance) = accepted {
            return Some(accept_step(&self.program, &acceptance));
        }
        let group = self.worst()?;
        let open = group.findings.iter().map(|at| self.finding(*at));
        let finding = open
            .filter(|it| it.is_open())
            .min_by_key(|it| it.direction)?;
        let id = self.id(finding);
        Some(known_step(&self.program, &id, group.is_shared, "it"))
    }

    /// Returns the history of the worst open change.
    pub(in crate::report) fn picture(&self) -> Option<Markup> {
        let group = self.worst()?;
        Some(self.picture_of(self.lead(group), group.is_shared).large())
    }

    pub(super) fn picture_of(&self, finding: &Finding, is_shared: bool) -> HistoryPicture {
        let points = &self.histories.series[finding.series].points;
        let values: Vec<f64> = points.iter().map(|it| it.value).collect();
        let change = points.partition_point(|point| point.moment < finding.first_after);
        let news = match finding.direction {
            _ if is_shared => News::Nothing,
            direction => News::of(direction),
        };
        let levels = (finding.subject.metric != FAILURES).then_some(PictureLevel {
            change,
            before: finding.size.before,
            after: finding.size.after,
        });
        HistoryPicture {
            values,
            levels,
            news,
            unit: finding.metric.unit.clone(),
        }
    }

    /// Returns the open findings, worst first, each with its history; and what is suspected.
    pub(in crate::report) fn open_list(&self) -> Markup {
        let causes = self.open_causes();
        let suspicions = &self.detection.suspicions;
        html! {
            @if !causes.is_empty() || !suspicions.is_empty() {
                ol.open-findings {
                    @for group in causes.iter().take(SHOWN_OPEN) {
                        @let lead = self.lead(group);
                        li {
                            (self.picture_of(lead, group.is_shared).small())
                            div {
                                a href=(self.link(group.lead())) title=(lead.subject.benchmark) { (heading(self, group)) }
                                small { (since_text(self, lead)) }
                            }
                        }
                    }
                    @for it in suspicions.iter().take(SHOWN_OPEN.saturating_sub(causes.len())) {
                        li {
                            (HistoryPicture { news: News::Suspected, ..self.picture_of(&it.finding, false) }.small())
                            div { (chip_of_suspicion()) " " (crate::suspicion_text(&self.histories, it)) "." }
                        }
                    }
                }
                @if causes.len() > SHOWN_OPEN {
                    p.hint { a href="changes.html" { "and " (causes.len() - SHOWN_OPEN) " more" } }
                }
            }
        }
    }
}

fn chip_of_suspicion() -> Markup {
    html! { span.chip.suspected { span aria-hidden="true" { "!" } " suspected" } }
}
