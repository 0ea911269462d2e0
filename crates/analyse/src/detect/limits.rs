//! What a suite file says about the histories of single benchmarks and metrics.

use super::series::Histories;
use crate::sample::Subject;
use lapwing_model::JudgeSettings;

impl Histories {
    /// Sets the limits of each series, which are `smallest_effect` and those of a suite file, removes the series that the
    /// file mutes, and returns these.
    pub fn apply_limits(
        &mut self,
        judge: &JudgeSettings,
        smallest_effect: Option<f64>,
    ) -> Vec<Subject> {
        let mut muted = Vec::new();
        self.series.retain_mut(|series| {
            let subject = &series.subject;
            let limits = judge.limits_of(&subject.benchmark, &subject.metric);
            series.smallest_effect = smallest_effect.or(limits.smallest_effect);
            series.metric.better = limits.better.or(series.metric.better);
            series.fail_on = limits.fail_on;
            let is_muted = limits.mute == Some(true);
            if is_muted {
                muted.push(subject.clone());
            }
            !is_muted
        });
        muted
    }
}
