//! Presents measurements: numbers with units, charts, the HTML report.

mod badge;
pub mod chart;
mod commit_pages;
mod detection;
mod enough;
mod estimate;
pub mod exchange;
mod finding;
mod junit;
mod meaning;
mod noise;
mod packed;
mod quantity;
pub mod report;
mod sample;
mod sparkline;
mod steady;
pub mod study;
mod summary;
#[cfg(test)]
mod testing;
pub mod trace;
mod units;
mod verdict;

pub use badge::badge;
pub use chart::{Chart, ChartTheme, VariantColours};
pub use commit_pages::CommitPages;
pub use detection::{
    DetectionView, change, configuration_text, detectable_text, detectable_with_interval,
    few_instances_caution, interval_text, outliers_caution, too_little_text,
};
pub use enough::{DetectionAbility, EnoughConfigurations};
pub use estimate::{EstimateText, comparison_sentence, cv_text, difference_text, ratio_text};
pub use finding::{
    FindingGroupText, FindingText, MomentText, change_text, detection_text, environment_text,
    suspicion_text, untested_texts,
};
pub use junit::junit;
pub use meaning::{BenchmarkMeaning, MeaningParameter};
pub use noise::{
    NOISY, NoisePartText, NoiseText, RowSubject, RowTitles, TitledRow, noise_advice, noise_headline,
};
pub use quantity::{UnitScale, machine_time, percent, quantity, ratio, round_percent};
pub use sample::{FIRST_METRIC, InstanceSample, MetricSample, Point, RunSample};
pub use sparkline::{SPARKLINE_HEIGHT, SPARKLINE_WIDTH, sparkline_path};
pub use steady::{class_name, classes_text};
pub use summary::RunSummary;
pub use units::into_base_units;
pub use verdict::{
    ComparisonText, MethodText, RatioText, VerdictText, after, caution_text, earlier_epoch_text,
    news_first, reason_text, replication_text, verdicts_text,
};
