//! The pages that a report can fill, known before the first is written, because every page links to all.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::frame::SitePage;
use super::{ReportSite, stacks, studies};
use lapwing_analyse::detect::NIGHTS_FOR_NOISE;
use lapwing_analyse::judge::INSTANCES_FOR_A_VERDICT;
use lapwing_analyse::sample::{BenchmarkData, VariantNames};

/// Shorter instances do not tell when a benchmark becomes steady.
const ITERATIONS_FOR_WARM_UP: usize = 6;

/// The kinds of pages that there is something to say on, besides the index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReportContents {
    /// Studies.
    pub studies: bool,
    /// Stacks.
    pub stacks: bool,
    /// Traces.
    pub traces: bool,
    /// Noise, and the slowdowns that can be detected in it.
    pub noise: bool,
    /// Noise between instances told from that within them.
    pub noise_parts: bool,
    /// The warm-up of benchmarks.
    pub warm_up: bool,
}

impl ReportContents {
    /// Returns those of a benchmark; there may be a trace.
    pub fn of(data: &BenchmarkData) -> Self {
        let variants = VariantNames::of(data);
        // All instances of a version, and those of several iterations.
        let mut instances: BTreeMap<(&str, Option<String>), [usize; 2]> = BTreeMap::new();
        for it in &data.instances {
            let key = (variants.name(&it.run), it.run.version.label());
            let [all, long] = instances.entry(key).or_default();
            *all += 1;
            *long += usize::from(it.iterations.len() > 1);
        }
        let has_enough = |at: usize| {
            let mut numbers = instances.values().map(|it| it[at]);
            numbers.any(|it| it >= INSTANCES_FOR_A_VERDICT)
        };
        let mut lengths = data.instances.iter().map(|it| it.iterations.len());
        Self {
            studies: studies::has_study(data),
            stacks: stacks::has_stacks(data),
            traces: false,
            noise: has_enough(0),
            noise_parts: has_enough(1),
            warm_up: lengths.any(|it| it >= ITERATIONS_FOR_WARM_UP),
        }
    }

    /// Adds those of others.
    pub fn add(&mut self, other: Self) {
        self.studies |= other.studies;
        self.stacks |= other.stacks;
        self.traces |= other.traces;
        self.noise |= other.noise;
        self.noise_parts |= other.noise_parts;
        self.warm_up |= other.warm_up;
    }

    /// Returns all of them.
    pub(super) fn all() -> Self {
        Self {
            studies: true,
            stacks: false,
            traces: false,
            noise: true,
            noise_parts: true,
            warm_up: true,
        }
    }
}

impl ReportSite {
    /// Returns whether the report has this page.
    pub(super) fn has(&self, page: SitePage) -> bool {
        match page {
            SitePage::Changes => self.changes.as_ref().is_some_and(|it| it.is_history()),
            SitePage::Compare => self.comparisons.is_some(),
            SitePage::Studies => self.contents.studies,
            SitePage::Stacks => self.contents.stacks,
            SitePage::Traces => self.contents.traces,
            SitePage::Variability | SitePage::Detection => {
                self.contents.noise || self.has_night_noise()
            }
            SitePage::BurnIn => self.contents.warm_up,
            SitePage::Index | SitePage::Bars | SitePage::Cleaning => true,
        }
    }

    /// Returns whether noise from night to night is known where there is none between instances of several iterations.
    pub(super) fn has_night_noise(&self) -> bool {
        let changes = self.changes.as_ref().filter(|_| !self.contents.noise_parts);
        changes.is_some_and(|it| it.night_noises().any(|(_, noise)| noise.is_ok()))
    }

    /// Returns what it takes for the pages that are missing.
    pub(super) fn missing_pages(&self) -> Markup {
        let pages = [
            (
                SitePage::Changes,
                html! { "changes need several runs in an order" },
            ),
            (
                SitePage::Variability,
                html! { "noise and sensitivity need " (INSTANCES_FOR_A_VERDICT) " instances in a run (" code { "lapwing run --instances 5" } ") or " (NIGHTS_FOR_NOISE) " runs since the last change" },
            ),
            (
                SitePage::BurnIn,
                html! { "warm-up needs " (ITERATIONS_FOR_WARM_UP) " iterations in an instance (" code { "--iterations 10" } ")" },
            ),
        ];
        let missing = pages.into_iter().filter(|(page, _)| !self.has(*page));
        let missing: Vec<Markup> = missing.map(|(_, text)| text).collect();
        html! {
            @if !missing.is_empty() {
                p.hint {
                    "Pages that these measurements cannot fill: "
                    @for (at, text) in missing.iter().enumerate() { @if at > 0 { "; " } (text) }
                    "."
                }
            }
        }
    }
}
