//! Series by the name of a test alone, as Coiled's detector groups them.

use super::series::{Histories, HistorySeries, SeriesPoint};
use crate::clean::{CleaningRules, PreferredCentres, instance_values};
use crate::judge::{MetricChoice, metric};
use crate::sample::{BenchmarkData, GroupBy, History, HistoryPosition, Setting, Subject, samples};
use lapwing_record::InstanceData;

/// The platform whose tests Coiled's detector looks at.
const PLATFORM: &str = "linux";

impl Histories {
    /// Adds a benchmark to the series of its name without the path, `test_x[1]` of `a/test_y.py::test_x[1]`: tests of
    /// equal name in several files are one series, and each instance is a run of its own. Those of platforms other
    /// than Linux are excluded.
    pub fn add_by_name(
        &mut self,
        data: &BenchmarkData,
        rules: &CleaningRules,
        metrics: &MetricChoice,
    ) {
        let history = History::of_sessions(data);
        let id = data.benchmark.id.as_str();
        let name = id.rsplit_once("::").map_or(id, |(_, name)| name);
        let is_wanted = |instance: &InstanceData| {
            let platform = instance.run.environment.get("platform");
            platform.is_none_or(|platform| platform == PLATFORM)
        };
        for mut sample in samples(data, GroupBy::Variant) {
            sample.instances.retain(|instance| is_wanted(instance));
            let (policy, _) = rules.policy(&sample);
            for metric_name in metrics.of(&sample) {
                let centres = PreferredCentres::of(sample.instances.iter().copied(), &metric_name);
                let values = instance_values(&sample.instances, &metric_name, policy, &centres);
                let points: Vec<SeriesPoint> = values
                    .iter()
                    .filter_map(|of_instance| {
                        let instance = sample.instances[of_instance.position];
                        Some(SeriesPoint {
                            moment: self.moment_of_instance(instance, &history)?,
                            value: of_instance.value,
                            instances: 1,
                        })
                    })
                    .collect();
                if points.is_empty() {
                    continue;
                }
                self.series.push(HistorySeries {
                    subject: Subject {
                        suite: data.suite.clone(),
                        benchmark: name.to_owned(),
                        setting: Setting {
                            variant: sample.setting.variant.clone(),
                            ..Setting::default()
                        },
                        metric: metric_name.clone(),
                    },
                    metric: metric(&sample, &metric_name),
                    smallest_effect: None,
                    fail_on: None,
                    recorded_ids: (sample.instances.iter())
                        .map(|it| it.instance.benchmark.id.clone())
                        .collect(),
                    tried: points.iter().map(|point| point.moment).collect(),
                    points,
                });
            }
        }
    }

    /// Returns the moment of a single instance, by the time at which it started.
    fn moment_of_instance(&mut self, instance: &InstanceData, history: &History) -> Option<usize> {
        let position = history.position(&instance.run.id)?;
        let position = HistoryPosition {
            measured: instance.instance.started.unwrap_or(position.measured),
            first_run: instance.instance.id,
            ..position
        };
        let at = self.moment_at(position, &instance.session, &instance.run);
        self.observe(at, instance);
        Some(at)
    }
}
