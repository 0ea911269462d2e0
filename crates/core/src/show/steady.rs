//! Classes of burn-in in words, and the median line, the same in the terminal, in pictures and on
//! pages.

use std::collections::BTreeMap;

use lapwing_stats::median;
use lapwing_stats::steady::Class;

use crate::clean::BenchmarkSteady;

/// Returns the name of a class.
pub fn class_name(class: Class) -> &'static str {
    match class {
        Class::Flat => "flat",
        Class::WarmUp => "warm-up",
        Class::Slowdown => "slowdown",
        Class::Cyclic => "cyclic",
        Class::NoSteadyState => "no steady state",
        Class::TooShort => "too short",
    }
}

/// Every class, in the order in which they are listed.
const CLASSES: [Class; 6] = [
    Class::WarmUp,
    Class::Flat,
    Class::Slowdown,
    Class::Cyclic,
    Class::NoSteadyState,
    Class::TooShort,
];

impl BenchmarkSteady<'_> {
    /// Returns the number of instances of each class, most frequent first. Instances without a class
    /// have a value that is not positive.
    pub fn classes(&self) -> Vec<(Option<Class>, usize)> {
        let all = CLASSES.into_iter().map(Some).chain([None]);
        let count = |class| self.instances.iter().filter(|it| it.class == class).count();
        let mut counts: Vec<(Option<Class>, usize)> = all
            .map(|class| (class, count(class)))
            .filter(|(_, count)| *count > 0)
            .collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    /// Returns the classes of its instances: `warm-up` if all are alike, otherwise `8 warm-up, 2 flat`.
    pub fn classes_text(&self) -> String {
        let name = |class: Option<Class>| class.map_or("not positive", class_name);
        match self.classes().as_slice() {
            [] => "no values".to_owned(),
            [(class, _)] => name(*class).to_owned(),
            several => several
                .iter()
                .map(|(class, count)| format!("{count} {}", name(*class)))
                .collect::<Vec<_>>()
                .join(", "),
        }
    }

    /// Returns the median over instances at each index that at least half of them have.
    pub fn medians(&self) -> Vec<(u32, f64)> {
        // A stretch at a time: together, all values may be too many for memory.
        const STRETCH: u32 = 256;
        let mut places = vec![0; self.instances.len()];
        let mut medians = Vec::new();
        loop {
            let next = self.instances.iter().zip(&places);
            let next = next.filter_map(|(instance, place)| instance.index().get(*place));
            let Some(first) = next.min().copied() else {
                return medians;
            };
            let mut at: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
            for (instance, place) in self.instances.iter().zip(&mut places) {
                let values = instance.index().iter().zip(instance.values.iter());
                let values = values.skip(*place);
                for (index, value) in values.take_while(|it| it.0 - first < STRETCH) {
                    at.entry(*index).or_default().push(*value);
                    *place += 1;
                }
            }
            let at = at.into_iter();
            let common = at.filter(|(_, values)| 2 * values.len() >= self.instances.len());
            medians.extend(common.filter_map(|(index, values)| Some((index, median(&values)?))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::InstanceSteady;
    use crate::model::Id;

    fn of(classes: &[Option<Class>]) -> BenchmarkSteady<'static> {
        let instance = |(position, class): (usize, &Option<Class>)| InstanceSteady {
            instance: Id::derived(&[&position.to_le_bytes()]),
            position,
            indices: [0, 1 + u32::try_from(position).expect("few")].into(),
            values: vec![1.0 + f64::from(u32::try_from(position).expect("few")), 9.0].into(),
            class: *class,
            start: None,
            period: None,
            is_asked: true,
        };
        BenchmarkSteady {
            metric: "wall_time".to_owned(),
            instances: classes.iter().enumerate().map(instance).collect(),
            burn_in: None,
        }
    }

    #[test]
    fn one_class_is_a_word_and_several_are_counted() {
        let text = |classes: &[Option<Class>]| of(classes).classes_text();
        assert_eq!(text(&[]), "no values");
        assert_eq!(text(&[Some(Class::Cyclic); 3]), "cyclic");
        assert_eq!(
            text(&[
                Some(Class::Flat),
                Some(Class::WarmUp),
                Some(Class::WarmUp),
                None
            ]),
            "2 warm-up, 1 flat, 1 not positive"
        );
    }

    #[test]
    fn the_median_is_told_where_half_of_the_instances_have_a_value() {
        assert_eq!(of(&[None; 3]).medians(), [(0, 2.0)]);
        assert_eq!(of(&[None; 2]).medians(), [(0, 1.5), (1, 9.0), (2, 9.0)]);
    }
}
