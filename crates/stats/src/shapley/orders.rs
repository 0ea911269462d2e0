//! Paths from one set to another, one factor at a time.

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathStep {
    /// The factor that is added, or removed.
    pub factor: usize,
    /// The set after it.
    pub set: u128,
    /// The value before.
    pub before: f64,
    /// The value after.
    pub after: f64,
}

impl PathStep {
    /// Returns after − before; the deltas of a path sum to the difference of its ends.
    pub fn delta(&self) -> f64 {
        self.after - self.before
    }
}

/// Returns the path that changes the factors in the given order, as far as sets have values.
///
/// `value` is the value of a set, `None` if it was not measured or cannot be; the path ends before such a set.
/// Factors of the set are removed, others added. Empty if the start has no value.
///
/// ```
/// use lapwing_stats::shapley::path_of_order;
/// let value = |set: u128| [1182.0, 240.0, 300.0, 61.0].get(set as usize).copied();
/// let deltas: Vec<f64> = path_of_order(0, &[0, 1], value).iter().map(|step| step.delta()).collect();
/// assert_eq!(deltas, [-942.0, -179.0]);
/// ```
pub fn path_of_order(
    base: u128,
    order: &[usize],
    value: impl Fn(u128) -> Option<f64>,
) -> Vec<PathStep> {
    let (mut set, mut steps) = (base, Vec::new());
    let Some(mut before) = value(base) else {
        return steps;
    };
    for factor in order {
        set ^= 1 << factor;
        let Some(after) = value(set) else { break };
        steps.push(PathStep {
            factor: *factor,
            set,
            before,
            after,
        });
        before = after;
    }
    steps
}

/// Returns the path that always takes the step with the lowest value, from `base` towards `target`, as far as sets
/// have values.
///
/// `ranks` group the factors: those of a lower rank are changed first, such as the nicest ones; without ranks (an
/// empty slice) all are equal. Of equal values the factor with the smaller number is first. A rank whose rest cannot
/// be measured is passed over. The attribution that it shows is that of this order only: Shapley values are the mean
/// over all.
///
/// ```
/// use lapwing_stats::shapley::best_first_path;
/// let value = |set: u128| [1182.0, 240.0, 300.0, 61.0].get(set as usize).copied();
/// let order = |ranks: &[usize]| best_first_path(0, 0b11, ranks, value).iter().map(|step| step.factor).collect::<Vec<_>>();
/// assert_eq!(order(&[]), [0, 1]);
/// assert_eq!(order(&[2, 1]), [1, 0]);
/// ```
pub fn best_first_path(
    base: u128,
    target: u128,
    ranks: &[usize],
    value: impl Fn(u128) -> Option<f64>,
) -> Vec<PathStep> {
    let (mut set, mut steps) = (base, Vec::new());
    let Some(mut before) = value(base) else {
        return steps;
    };
    let rank = |factor: usize| ranks.get(factor).copied().unwrap_or(0);
    while set != target {
        let missing = (0..128).filter(|factor| (set ^ target) >> factor & 1 == 1);
        let possible =
            missing.filter_map(|factor| Some((rank(factor), value(set ^ 1 << factor)?, factor)));
        let best =
            possible.min_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
        let Some((_, after, factor)) = best else {
            break;
        };
        set ^= 1 << factor;
        steps.push(PathStep {
            factor,
            set,
            before,
            after,
        });
        before = after;
    }
    steps
}
