//! Factors of a study with their levels, and the treatments that they are for sets.

use std::cmp::Ordering;

use lapwing_model::Level;
use lapwing_stats::linear_model::FactorValues;

/// A factor of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyFactor {
    /// Its name.
    pub name: String,
    /// Its levels; the first one is the base.
    pub levels: Vec<Level>,
}

/// One level of a factor, instead of the base: what a set of treatments contains or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Treatment {
    /// The number of its factor.
    pub factor: usize,
    /// The number of its level, 1 or more.
    pub level: usize,
    /// `cfg_encrypted`, `prefetch=100`.
    pub name: String,
}

impl StudyFactor {
    /// Returns a factor with the levels that were measured, in order; absent comes before present.
    pub fn new(name: String, mut levels: Vec<Level>) -> Self {
        if levels.iter().all(|level| matches!(level, Level::Bool(_))) {
            levels = vec![Level::Bool(false), Level::Bool(true)];
        }
        levels.sort_by(order);
        levels.dedup_by(|one, other| order(one, other) == Ordering::Equal);
        Self { name, levels }
    }

    /// Returns the factor with another base, if it has that level; treatments keep theirs.
    pub(crate) fn with_base(mut self, base: &Level) -> Self {
        if let (false, Some(place)) = (self.is_treatment(), self.position(base)) {
            self.levels[..=place].rotate_right(1);
        }
        self
    }

    /// Returns whether it is a treatment: absent or present.
    pub fn is_treatment(&self) -> bool {
        self.levels == [Level::Bool(false), Level::Bool(true)]
    }

    /// Returns the values of its levels if it is numeric with more than two.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        numbers(&self.levels)
    }

    /// Returns the number of a level.
    pub fn position(&self, level: &Level) -> Option<usize> {
        let mut levels = self.levels.iter();
        levels.position(|known| order(known, level).is_eq())
    }

    /// Returns the number of the level that a text means: `1`, `true`, `100`.
    pub fn named(&self, text: &str) -> Option<usize> {
        let text = text.trim();
        if self.is_treatment() {
            return match text {
                "0" | "false" | "no" | "off" | "absent" => Some(0),
                "1" | "true" | "yes" | "on" | "present" => Some(1),
                _ => None,
            };
        }
        let mut levels = self.levels.iter();
        levels.position(|level| level.to_string() == text)
    }

    /// Returns its values for the model, from the number of the level of each run.
    pub(crate) fn values(&self, levels: impl ExactSizeIterator<Item = usize>) -> FactorValues {
        if let Some(numbers) = self.numbers() {
            // From the base, so that a slope with pairs or a square in the model is the one there.
            return FactorValues::Numbers(
                levels.map(|level| numbers[level] - numbers[0]).collect(),
            );
        }
        if self.levels.len() <= 2 {
            return FactorValues::Treatment(levels.map(|level| level == 1).collect());
        }
        FactorValues::Levels {
            levels: levels.collect(),
            count: self.levels.len(),
        }
    }

    /// Returns the name of one of its levels as a treatment.
    pub fn treatment_name(&self, level: usize) -> String {
        match self.levels.get(level) {
            Some(own) if !self.is_treatment() => format!("{}={own}", self.name),
            Some(_) | None => self.name.clone(),
        }
    }
}

/// Returns levels as numbers if there are more than two and all are numbers.
pub(crate) fn numbers(levels: &[Level]) -> Option<Vec<f64>> {
    let numbers: Option<Vec<f64>> = levels.iter().map(number).collect();
    numbers.filter(|numbers| numbers.len() > 2)
}

fn number(level: &Level) -> Option<f64> {
    match level {
        Level::Integer(value) => value.to_string().parse().ok(),
        Level::Number(value) => Some(*value),
        Level::Bool(_) | Level::Text(_) => None,
    }
}

fn order(one: &Level, other: &Level) -> Ordering {
    let rank = |level: &Level| match level {
        Level::Bool(_) => 0,
        Level::Integer(_) | Level::Number(_) => 1,
        Level::Text(_) => 2,
    };
    match (one, other) {
        (Level::Bool(a), Level::Bool(b)) => a.cmp(b),
        (Level::Text(a), Level::Text(b)) => a.cmp(b),
        (one, other) => match (number(one), number(other)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => rank(one).cmp(&rank(other)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_of_a_design_comes_first_and_the_others_stay_in_order() {
        let levels = [1, 2, 4, 8].map(Level::Integer).to_vec();
        let workers = StudyFactor::new("workers".to_owned(), levels).with_base(&Level::Integer(4));
        assert_eq!(workers.levels, [4, 1, 2, 8].map(Level::Integer));
        let treatment = StudyFactor::new("a".to_owned(), vec![Level::Bool(true)]);
        let same = treatment.clone().with_base(&Level::Bool(true));
        assert_eq!(same, treatment);
    }

    #[test]
    fn levels_are_in_order_and_found_by_their_texts() {
        let prefetch = StudyFactor::new(
            "prefetch".to_owned(),
            vec![Level::Integer(100), Level::Number(2.5), Level::Integer(0)],
        );
        assert_eq!(prefetch.numbers(), Some(vec![0.0, 2.5, 100.0]));
        assert_eq!(prefetch.named("100"), Some(2));
        assert_eq!(prefetch.treatment_name(2), "prefetch=100");
        let treatment = StudyFactor::new("a".to_owned(), vec![Level::Bool(true)]);
        assert!(treatment.is_treatment());
        assert_eq!(
            (treatment.named("1"), treatment.named("x")),
            (Some(1), None)
        );
        assert_eq!(treatment.treatment_name(1), "a");
    }
}
