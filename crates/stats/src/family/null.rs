//! What statistics a family has where nothing changed, and how rare one beyond all of them is.

use std::collections::BTreeMap;

use crate::student_tail::same_quantile;

/// Null statistics of a family, |t| each, by their degrees of freedom and with weights that add up to about 1.
pub(crate) struct PooledNull {
    groups: Vec<NullGroup>,
}

struct NullGroup {
    freedom: f64,
    /// Ascending.
    statistics: Vec<f64>,
    /// The weight of the statistics from this position on.
    weight_from: Vec<f64>,
}

impl PooledNull {
    /// Takes degrees of freedom, statistic and weight of each.
    pub(crate) fn new(statistics: impl IntoIterator<Item = (f64, f64, f64)>) -> Self {
        let mut by_freedom: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
        for (freedom, statistic, weight) in statistics {
            let group = by_freedom.entry(freedom.to_bits()).or_default();
            group.push((statistic, weight));
        }
        let groups = by_freedom
            .into_iter()
            .map(|(bits, group)| NullGroup::new(f64::from_bits(bits), group));
        Self {
            groups: groups.collect(),
        }
    }

    /// Returns the p-value of a statistic: the weight of the null statistics that are at least as large, and of one
    /// more, the observed one.
    ///
    /// The one more has the weight `one_more` · min(1, t′/t)^`tail_index`, with the next smaller null statistic t′:
    /// beyond the largest one this continues the null by a Pareto tail through it. A whole relabelling more would be
    /// a floor: no change, however large, could have a smaller p-value, and one changed benchmark among many would
    /// never be found.
    ///
    /// Statistics with other degrees of freedom are compared by their tail probabilities.
    pub(crate) fn p_value(
        &self,
        statistic: f64,
        freedom: f64,
        one_more: f64,
        tail_index: f64,
    ) -> f64 {
        let (mut beyond, mut smaller) = (0.0, None::<f64>);
        for group in &self.groups {
            let limit = same_quantile(statistic, freedom, group.freedom) * (1.0 - 1e-9);
            let first = group.statistics.partition_point(|value| *value < limit);
            beyond += group.weight_from.get(first).copied().unwrap_or(0.0);
            if let Some(below) = first.checked_sub(1) {
                let below = same_quantile(group.statistics[below], group.freedom, freedom);
                smaller = Some(smaller.map_or(below, |known| known.max(below)));
            }
        }
        // Without a smaller one nothing says how fast the tail falls.
        let share = smaller.map_or(1.0, |it| (it / statistic).min(1.0));
        (beyond + one_more * share.powf(tail_index)).min(1.0)
    }
}

impl NullGroup {
    fn new(freedom: f64, mut pairs: Vec<(f64, f64)>) -> Self {
        pairs.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let mut weight_from: Vec<f64> = pairs.iter().map(|(_, weight)| *weight).collect();
        let mut sum = 0.0;
        for weight in weight_from.iter_mut().rev() {
            sum += *weight;
            *weight = sum;
        }
        Self {
            freedom,
            statistics: pairs.into_iter().map(|(statistic, _)| statistic).collect(),
            weight_from,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn null() -> PooledNull {
        PooledNull::new([0.5, 1.0, 2.0, 4.0].map(|statistic| (8.0, statistic, 0.25)))
    }

    #[test]
    fn beyond_the_largest_null_statistic_p_falls_with_the_size() {
        let p_value = |statistic: f64| null().p_value(statistic, 8.0, 0.25, 4.0);
        assert_eq!(p_value(0.4), 1.0);
        assert_eq!(p_value(4.0), 0.25 + 0.25 / 16.0);
        assert_eq!(p_value(8.0), 0.25 / 16.0);
        assert!((p_value(80.0) / (0.25 / 160_000.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn statistics_of_other_degrees_of_freedom_are_compared_by_their_tails() {
        let same = same_quantile(8.0, 8.0, 3.0);
        let other = null().p_value(same, 3.0, 0.25, 4.0);
        let smaller = same_quantile(4.0, 8.0, 3.0);
        assert!((other - 0.25 * (smaller / same).powi(4)).abs() < 1e-12);
    }
}
