//! The configuration that is enough to detect a slowdown, and how certain that is.

use std::collections::BTreeMap;

use lapwing_stats::Configuration;

use super::detection::{DetectionView, per_side};
use super::noise::{RowTitles, TitledRow};
use lapwing_analyse::explain::Detectability;
use lapwing_analyse::judge::DetectionCell;
use lapwing_model::text::grouped;
use schemars::JsonSchema;
use serde::Serialize;

/// The configurations with the fewest iterations in total that detect the wanted slowdown; of equal ones those
/// with fewer instances. By formula all three are the same.
#[derive(Debug, Clone, Copy, Default)]
pub struct EnoughConfigurations<'a> {
    /// The first whose rate has the wanted power.
    pub likely: Option<&'a DetectionCell>,
    /// The first whose rate has it even at the lower end of its interval.
    pub surely: Option<&'a DetectionCell>,
    /// The first whose rate has it at the upper end of its interval.
    pub perhaps: Option<&'a DetectionCell>,
    /// Whether anything is known about any configuration.
    pub is_known: bool,
}

/// Whether a benchmark can detect the wanted slowdown with any configuration of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DetectionAbility {
    /// None is, not even at the upper ends of the intervals.
    No,
    /// There are too few measurements.
    Unknown,
    /// Some may be: the interval of their rate contains the wanted power.
    Unsure,
    /// One is, at the lower end of its interval.
    Yes,
}

impl<'a> EnoughConfigurations<'a> {
    /// Returns the configuration to name: the likely one, otherwise one that may be enough.
    pub fn told(self) -> Option<&'a DetectionCell> {
        self.likely.or(self.perhaps)
    }

    /// Returns whether the named configuration is certainly enough.
    pub fn is_sure(self) -> bool {
        let configuration = |it: Option<&DetectionCell>| it.map(|it| it.configuration);
        self.surely.is_some() && configuration(self.likely) == configuration(self.surely)
    }

    /// Returns whether the benchmark can detect the wanted slowdown.
    pub fn able(self) -> DetectionAbility {
        match (self.surely, self.told()) {
            (Some(_), _) => DetectionAbility::Yes,
            (None, Some(_)) => DetectionAbility::Unsure,
            (None, None) if self.is_known => DetectionAbility::No,
            (None, None) => DetectionAbility::Unknown,
        }
    }
}

impl DetectionView {
    /// Returns the configurations that are enough. This takes a while, so it should be called once per row.
    pub fn enough(self, row: &Detectability) -> EnoughConfigurations<'_> {
        let mut cells: Vec<&DetectionCell> = self.cells(row).collect();
        cells.sort_by_key(|cell| {
            let Configuration {
                instances,
                iterations,
            } = cell.configuration;
            (instances * iterations, instances)
        });
        let mut enough = EnoughConfigurations {
            is_known: !cells.is_empty(),
            ..EnoughConfigurations::default()
        };
        // Computing a rate takes a while, so none is computed that is not needed.
        for cell in cells {
            let Some(rate) = cell.rate(self.target) else {
                continue;
            };
            let (lower, upper) = match rate.interval {
                Some(interval) => (interval.lower, interval.upper),
                None => (rate.value, rate.value),
            };
            if upper >= self.power {
                enough.perhaps = enough.perhaps.or(Some(cell));
            }
            if rate.value >= self.power {
                enough.likely = enough.likely.or(Some(cell));
            }
            if lower >= self.power {
                enough.surely = Some(cell);
                break;
            }
        }
        enough
    }

    /// Returns the configuration with the fewest iterations in total whose rate has the wanted power; of equal ones
    /// that with fewer instances.
    pub fn cheapest(self, row: &Detectability) -> Option<&DetectionCell> {
        self.enough(row).likely
    }

    /// Returns the conclusion in a sentence, from what is enough for each row.
    ///
    /// A benchmark with several settings or metrics counts as the least able of them.
    pub fn headline(
        self,
        rows: &[Detectability],
        enough: &[EnoughConfigurations<'_>],
        most: Configuration,
    ) -> String {
        if let ([row], [enough]) = (rows, enough) {
            return self.headline_of_one(row, *enough, most);
        }
        let able = rows.iter().zip(enough).map(|(row, it)| (row, it.able()));
        self.headline_of_rows(rows, able, most)
    }

    fn headline_of_one(
        self,
        row: &Detectability,
        enough: EnoughConfigurations<'_>,
        most: Configuration,
    ) -> String {
        let (name, target) = (&row.benchmark, self.target_text());
        let within = format!("with at most {}", per_side(most));
        match (enough.able(), enough.surely, enough.likely) {
            (DetectionAbility::Yes, Some(surely), Some(likely)) if !enough.is_sure() => format!(
                "{name} can detect {target}, with {}, perhaps with {}",
                per_side(surely.configuration),
                likely.configuration
            ),
            (DetectionAbility::Yes, Some(surely), _) => {
                format!(
                    "{name} can detect {target}, with {}",
                    per_side(surely.configuration)
                )
            }
            (DetectionAbility::Unsure, ..) => {
                let undecided = undecided(self.experiments([row]));
                format!("{undecided} whether {name} can detect {target} {within}")
            }
            (DetectionAbility::No | DetectionAbility::Unknown | DetectionAbility::Yes, ..) => {
                format!("{name} cannot detect {target} {within}")
            }
        }
    }

    /// Returns the conclusion in a sentence, given the ability of each row.
    pub(crate) fn headline_of_rows<'a>(
        self,
        rows: &[Detectability],
        able: impl IntoIterator<Item = (&'a Detectability, DetectionAbility)>,
        most: Configuration,
    ) -> String {
        let titles = RowTitles::within_benchmarks(rows);
        let throughout = match (titles.settings, titles.metrics) {
            (false, false) => "",
            (true, false) => " in every setting",
            (false, true) => " by every metric",
            (true, true) => " in every setting and by every metric",
        };
        self.sentence(
            AbilityCounts::of(able),
            throughout,
            most,
            self.experiments(rows),
        )
    }

    fn sentence(
        self,
        counts: AbilityCounts,
        throughout: &str,
        most: Configuration,
        experiments: usize,
    ) -> String {
        let AbilityCounts {
            yes,
            unsure,
            unknown,
            all,
        } = counts;
        let detect = format!(
            "detect {}{throughout} with at most {}",
            self.target_text(),
            per_side(most)
        );
        let unknown = match unknown {
            0 => String::new(),
            unknown if unknown == all => String::new(),
            unknown => format!("; {} with too few measurements", grouped(unknown)),
        };
        if yes == 0 && unsure > 0 {
            let who = match all {
                1 => "the one benchmark".to_owned(),
                all => format!("{} of {} benchmarks", grouped(unsure), grouped(all)),
            };
            return format!(
                "{} whether {who} can {detect}{unknown}",
                undecided(experiments)
            );
        }
        let who = match (yes, all) {
            (0, 1) => "the one benchmark cannot".to_owned(),
            (_, 1) => "the one benchmark can".to_owned(),
            (0, all) => format!("none of {} benchmarks can", grouped(all)),
            (2, 2) => "both benchmarks can".to_owned(),
            (yes, all) if yes == all => format!("all {} benchmarks can", grouped(all)),
            (yes, all) => format!("{} of {} benchmarks can", grouped(yes), grouped(all)),
        };
        let unsure = match unsure {
            0 => String::new(),
            1 => format!(", 1 is too close to call with {}", these(experiments)),
            several => format!(
                ", {} are too close to call with {}",
                grouped(several),
                these(experiments)
            ),
        };
        format!("{who} {detect}{unsure}{unknown}")
    }

    /// Returns the number of experiments behind the rates of these rows; 0 for a formula.
    pub(crate) fn experiments<'a>(
        self,
        rows: impl IntoIterator<Item = &'a Detectability>,
    ) -> usize {
        let rows = rows.into_iter();
        let numbers = rows.filter_map(|row| self.cells(row).find_map(DetectionCell::experiments));
        numbers.max().unwrap_or_default()
    }
}

/// The number of benchmarks with each ability.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct AbilityCounts {
    yes: usize,
    unsure: usize,
    unknown: usize,
    all: usize,
}

impl AbilityCounts {
    /// Counts benchmarks. One with several settings or metrics counts as the least able of them.
    pub fn of<'a>(rows: impl IntoIterator<Item = (&'a Detectability, DetectionAbility)>) -> Self {
        let mut benchmarks: BTreeMap<(&str, &str), DetectionAbility> = BTreeMap::new();
        for (row, able) in rows {
            let least = benchmarks
                .entry((&row.suite, &row.benchmark))
                .or_insert(able);
            *least = able.min(*least);
        }
        let abilities = benchmarks.into_values();
        abilities.fold(Self::default(), |mut counts, able| {
            counts.all += 1;
            match able {
                DetectionAbility::Yes => counts.yes += 1,
                DetectionAbility::Unsure => counts.unsure += 1,
                DetectionAbility::Unknown => counts.unknown += 1,
                DetectionAbility::No => {}
            }
            counts
        })
    }
}

impl RowTitles {
    /// Returns what distinguishes the rows of one benchmark, for the benchmark that needs most.
    fn within_benchmarks(rows: &[Detectability]) -> Self {
        let mut first: BTreeMap<(&str, &str), &Detectability> = BTreeMap::new();
        let mut titles = Self {
            suites: false,
            settings: false,
            metrics: false,
        };
        for row in rows {
            let about = row.about();
            let first = first.entry((about.suite, about.benchmark)).or_insert(row);
            titles.settings |= first.setting != row.setting;
            titles.metrics |= first.name != row.name;
        }
        titles
    }
}

fn these(experiments: usize) -> String {
    match experiments {
        1 => "1 experiment".to_owned(),
        several => format!("{} experiments", grouped(several)),
    }
}

fn undecided(experiments: usize) -> String {
    let verb = if experiments == 1 { "does" } else { "do" };
    format!("{} {verb} not decide", these(experiments))
}
