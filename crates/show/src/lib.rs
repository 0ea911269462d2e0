//! Presents measurements: numbers with units, charts, the HTML report.

pub mod answers;
mod badge;
pub mod chart;
mod commit_pages;
mod document;
pub mod exchange;
mod gates;
mod packed;
mod quantity;
pub mod report;
mod sample;
mod sparkline;
pub mod study;
#[cfg(test)]
mod testing;
pub mod trace;
mod units;
mod words;
pub mod writing;

pub use badge::badge;
pub use chart::{Chart, ChartTheme, VariantColours};
pub use commit_pages::CommitPages;
pub use gates::GateTests;
pub use quantity::{UnitScale, machine_time, percent, quantity, ratio, round_percent};
pub use sample::{FIRST_METRIC, InstanceSample, MetricSample, Point, RunSample};
pub use sparkline::{SPARKLINE_HEIGHT, SPARKLINE_WIDTH, sparkline_path};
pub use units::into_base_units;
pub use words::detected::{
    ChangeCounts, detection_text, names_histories, reason_words, tested_text, unjudged_text,
};
pub use words::detection::{
    DetectionView, beyond_band_note, change, configuration_text, detectable_text,
    detectable_with_interval, few_instances_caution, interval_text, outliers_caution,
    rate_with_interval, too_little_text,
};
pub use words::enough::{AbilityCounts, DetectionAbility, EnoughConfigurations};
pub use words::estimate::{
    EstimateText, comparison_sentence, cv_text, difference_text, ratio_text, suite_ratio_text,
};
pub use words::finding::{
    FindingGroupText, FindingText, MomentText, NAMED_ENVIRONMENT_CHANGES, change_text,
    environment_text, explained_text, surrounding_text, suspicion_text,
};
pub use words::looked::LookedText;
pub use words::meaning::{BenchmarkMeaning, MeaningParameter};
pub use words::noise::{
    NOISY, NoiseCounts, NoisePartText, NoiseText, RowSubject, RowTitles, TitledRow, noise_advice,
    noise_headline,
};
pub use words::replication::{replication_notes, session_noise_note};
pub use words::self_test::{alarm_cell, alarms_text, drift_cell, found_text, seen_text, step_cell};
pub use words::steady::{class_name, classes_text};
pub use words::summary::RunSummary;
pub use words::verdict::{
    ComparisonText, MethodText, RatioText, VerdictCounts, VerdictText, after, caution_text,
    drift_text, earlier_epoch_text, explanation_text, news_first, reason_text, verdicts_text,
    within_text,
};
