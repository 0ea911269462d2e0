//! What every command that compares has in common: the options, and how the sides are gathered.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use lapwing_core::clean::CleaningRules;
use lapwing_core::judge::{CompareMethod, CompareOptions, MetricChoice, SideSamples};
use lapwing_core::record::Filter;
use lapwing_core::sample::{ComparedSides, SampleFilter, SideSpec};
use lapwing_stats::{Confidence, Seed};

use crate::burn_in_file::unknown_names;
use crate::cleaning::JudgingOptions;
use crate::error::CliError;
use crate::options::Context;
use crate::profile::Profile;
use crate::side_file::SideFiles;
use crate::store::{open_for_reading, retired_notes};

/// How sides are compared.
#[derive(Debug, Clone, Args)]
pub struct StatisticsOptions {
    /// Smallest change that matters, such as 3%: smaller changes are not reported as regressions,
    /// and a change certain to be smaller is `equivalent`
    #[arg(long, value_name = "CHANGE", value_parser = parse_change, conflicts_with = "compat")]
    smallest_effect: Option<f64>,
    /// Method for intervals and p-values
    #[arg(
        long,
        value_name = "METHOD",
        default_value = "default",
        conflicts_with = "compat"
    )]
    method: CompareMethodChoice,
    /// Confidence level of the intervals [default: 95%]
    #[arg(long, value_name = "LEVEL", value_parser = parse_level)]
    confidence: Option<Confidence>,
    /// Accepted share of false findings among regressions and improvements [default: 5%]
    #[arg(long, value_name = "SHARE", value_parser = parse_share, conflicts_with = "compat")]
    false_discovery_rate: Option<f64>,
    /// Seed of the bootstrap and permutation methods
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompareMethodChoice {
    /// Welch's t on logarithms; the studentised bootstrap from 20 instances per side
    Default,
    /// Welch's t on logarithms
    Welch,
    /// The studentised bootstrap of logarithms
    BootstrapT,
    /// The BCa bootstrap of the ratio of arithmetic means
    Bca,
    /// Fieller's interval of the ratio of arithmetic means
    Fieller,
    /// Percentile bootstrap of instances and iterations (Laaber et al.); too narrow with few
    /// instances
    Hierarchical,
    /// Mann–Whitney's test with Hodges and Lehmann's ratio
    MannWhitney,
    /// Brunner and Munzel's test with Hodges and Lehmann's ratio
    BrunnerMunzel,
    /// The permutation test of the means of logarithms
    Permutation,
}

impl CompareMethodChoice {
    fn method(self) -> CompareMethod {
        match self {
            Self::Default => CompareMethod::Default,
            Self::Welch => CompareMethod::Welch,
            Self::BootstrapT => CompareMethod::BootstrapT,
            Self::Bca => CompareMethod::Bca,
            Self::Fieller => CompareMethod::Fieller,
            Self::Hierarchical => CompareMethod::Hierarchical,
            Self::MannWhitney => CompareMethod::MannWhitney,
            Self::BrunnerMunzel => CompareMethod::BrunnerMunzel,
            Self::Permutation => CompareMethod::Permutation,
        }
    }
}

impl StatisticsOptions {
    /// Returns the options of a comparison; what they leave open is as the suite file says, or as
    /// usual.
    pub fn options(&self, judging: &JudgingOptions) -> CompareOptions {
        let usual = CompareOptions::default();
        CompareOptions {
            method: self.method.method(),
            confidence: self
                .confidence
                .or(judging.confidence)
                .unwrap_or(usual.confidence),
            smallest_effect: self.smallest_effect.or(judging.smallest_effect),
            false_discovery_rate: self
                .false_discovery_rate
                .or(judging.false_discovery_rate)
                .unwrap_or(usual.false_discovery_rate),
            seed: Seed(self.seed),
        }
    }
}

/// The samples of all sides.
pub struct GatheredSides {
    /// The names of the sides, the baseline first.
    pub names: Vec<String>,
    /// What counts of each.
    pub samples: SideSamples,
    /// Notes on how they were chosen.
    pub notes: Vec<String>,
}

/// Returns the metrics that a filter asks for.
pub fn metrics(filter: &SampleFilter, profile: Profile) -> MetricChoice {
    if filter.metrics.is_empty() {
        profile.metrics
    } else {
        MetricChoice::Named(filter.metrics.clone())
    }
}

/// Finds the sides and reads what was measured on each.
///
/// # Errors
/// When a side fits nothing or several things, or a store cannot be read.
pub fn gather(
    sides: &[SideSpec],
    filter: &SampleFilter,
    metrics: &MetricChoice,
    rules: &CleaningRules,
    context: &Context,
) -> Result<GatheredSides, CliError> {
    let found = FoundSides::find(sides, filter, context)?;
    let mut samples = SideSamples::gather(&found.sides, filter, metrics, rules)?;
    let mut notes = found.notes(filter, rules)?;
    if let Some(suites) = samples.match_by_id() {
        notes.push(format!(
            "the sides have no suite in common ({}): benchmarks are matched by name",
            suites.join(", ")
        ));
    }
    Ok(GatheredSides {
        names: found.sides.names(),
        samples,
        notes,
    })
}

/// The sides of a comparison, with the files that some of them may be in.
pub struct FoundSides {
    /// The sides.
    pub sides: ComparedSides,
    /// Goes after the stores that were made of the files.
    _files: SideFiles,
}

impl FoundSides {
    /// Finds the sides in the store and in files.
    ///
    /// # Errors
    /// When a side fits nothing or several things, or a store cannot be read.
    pub fn find(
        specs: &[SideSpec],
        filter: &SampleFilter,
        context: &Context,
    ) -> Result<Self, CliError> {
        let mut files = SideFiles::default();
        let open = || open_for_reading(context);
        let sides = ComparedSides::find(specs, filter, open, |path| files.open(path))?;
        Ok(Self {
            sides,
            _files: files,
        })
    }

    /// Returns notes on how the sides were chosen and on excluded results.
    ///
    /// # Errors
    /// When a store cannot be read.
    pub fn notes(
        &self,
        filter: &SampleFilter,
        rules: &CleaningRules,
    ) -> Result<Vec<String>, CliError> {
        let mut notes = self.sides.notes.clone();
        if let Some(listed) = &rules.burn_in.listed {
            let mut ids = BTreeSet::new();
            for store in self.sides.stores() {
                let rows = store
                    .catalogue()
                    .benchmarks(&Filter::default())?
                    .into_iter();
                ids.extend(rows.map(|row| row.benchmark));
            }
            notes.extend(unknown_names(listed, ids.iter().map(String::as_str)));
        }
        notes.extend(retired_notes(&self.sides.left_out(filter)?));
        Ok(notes)
    }
}

/// Returns a level of confidence written as `95%` or `0.95`.
///
/// # Errors
/// When it is none.
pub fn parse_level(text: &str) -> Result<Confidence, String> {
    let level = parse_share(text)?;
    Confidence::new(level).map_err(|error| error.to_string())
}

/// Returns a number written as `3%`, `3 %` or `0.03`.
pub fn number(text: &str) -> Option<f64> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|it| it / 100.0),
        None => text.parse::<f64>(),
    };
    number.ok().filter(|number| number.is_finite())
}

/// Returns a share written as `5%` or `0.05`.
///
/// # Errors
/// When it does not lie between 0 and 1.
pub fn parse_share(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| "write a share above 0 % and below 100 %, such as 5% or 0.05".to_owned())
}

fn parse_change(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|change| *change > 0.0 && *change < 1.0)
        .ok_or_else(|| "write a change above 0 % and below 100 %, such as 3% or 0.03".to_owned())
}
