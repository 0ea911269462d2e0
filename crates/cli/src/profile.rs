//! Profiles: the defaults of a tool's method, chosen by `--compat`.

use lapwing_analyse::judge::{DetectionOptions, MetricChoice, WantedBasis};
use lapwing_analyse::sample::SettingChoice;
use lapwing_stats::DetectionMethod;

/// Another tool whose method is reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compat {
    /// The notebook and `analyze_benchmarks` of Hail's benchmarks
    Hail,
    /// The detector of Coiled's benchmarks
    Coiled,
}

/// Defaults of a tool's method.
#[derive(Debug, Clone)]
pub struct Profile {
    /// Judged versions and variants.
    pub settings: SettingChoice,
    /// Compared metrics.
    pub metrics: MetricChoice,
    /// Detection methods.
    pub methods: Vec<DetectionMethod>,
    /// Detection method of plans.
    pub plan_method: DetectionMethod,
    /// Number of experiments that confirm a plan.
    pub plan_experiments: u32,
    /// The basis of detection rates; `None` if an option chooses it.
    pub basis: Option<WantedBasis>,
    /// Whether plans search a grid for the smallest detectable slowdown instead of the cheapest configuration.
    pub searches_grid: bool,
}

impl Profile {
    /// Returns the profile of a tool; without one, of Lapwing.
    pub fn of(compat: Option<Compat>) -> Self {
        match compat {
            None => Self {
                settings: SettingChoice::Latest,
                metrics: MetricChoice::Directed,
                methods: DetectionOptions::default().methods,
                plan_method: DetectionMethod::Paired,
                plan_experiments: 1_000,
                basis: None,
                searches_grid: false,
            },
            Some(Compat::Coiled) => Self {
                metrics: MetricChoice::Named(
                    ["wall_time", "average_memory", "peak_memory"]
                        .map(str::to_owned)
                        .to_vec(),
                ),
                ..Self::of(None)
            },
            Some(Compat::Hail) => Self {
                settings: SettingChoice::AsHail,
                // Hail's notebook knows times only.
                metrics: MetricChoice::Named(vec!["wall_time".to_owned()]),
                methods: vec![DetectionMethod::Laaber, DetectionMethod::Schultz],
                plan_method: DetectionMethod::Laaber,
                plan_experiments: 100,
                basis: Some(WantedBasis::AsHail),
                searches_grid: true,
            },
        }
    }
}
