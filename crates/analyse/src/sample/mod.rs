//! Selection of the instances to analyse together: settings, sides, order of versions, epochs, filters and units, once
//! for every command and page.
//!
//! [`each_benchmark`] reads benchmarks under their current names and epochs, [`SampleFilter`] resolves the user's
//! selection of runs, [`ComparedSides`] the sides of a comparison, and [`samples`] groups the instances of a
//! benchmark.

mod batch;
mod branches;
mod chosen_runs;
mod environment;
mod epoch;
mod file_dates;
mod filter;
mod group;
mod history;
mod joined;
mod known_sides;
mod main_runs;
#[cfg(test)]
mod main_runs_tests;
mod nights;
mod order;
mod pairing;
mod params;
mod read;
mod selector;
#[cfg(test)]
mod selector_tests;
mod selector_text;
mod setting;
mod side;
mod side_groups;
mod sides;
mod subject;
mod units;
mod void;

pub use batch::{BenchmarkBatch, each_batch};
pub use branches::RepositoryCommits;
pub(crate) use environment::{is_volatile, observations};
pub use filter::{RunKey, SampleFilter};
pub use group::{GroupBy, Sample, SettingChoice, SidePlace, samples};
pub use history::{History, HistoryPosition, RunMoment, SourcePlace, version_date};
pub use joined::{JoinError, check_joined};
pub use known_sides::KnownSides;
pub(crate) use main_runs::USUAL_BRANCHES;
pub use main_runs::{CommitLine, MainChoice, MainRuns};
pub use nights::SuiteHistories;
pub use order::RunOrder;
pub use pairing::{SettingPair, SideSetting, pair_settings};
pub use params::{differ, telling};
pub(crate) use read::each_with_all_metrics_but;
pub use read::{BenchmarkData, each_benchmark, each_with_all_metrics};
pub use selector::{KEYS, Selector, moment};
pub use selector_text::{SelectorError, assignments};
pub(crate) use setting::variant_settings;
pub use setting::{Setting, VariantNames, levels_text};
pub use side::{SideError, SideKind, SideSpec};
pub use side_groups::SidePool;
pub(crate) use sides::with_metrics;
pub use sides::{ComparedSide, ComparedSides};
pub use subject::Subject;
pub use units::convert;
pub(crate) use void::is_void;
