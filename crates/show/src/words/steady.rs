//! Classes of burn-in in words, and the median line, the same in the terminal, in pictures and on
//! pages.

use lapwing_stats::steady::Class;

use lapwing_analyse::clean::BenchmarkSteady;

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

/// Returns the classes of its instances: `warm-up` if all are alike, otherwise `8 warm-up, 2 flat`.
pub fn classes_text(steady: &BenchmarkSteady<'_>) -> String {
    let name = |class: Option<Class>| class.map_or("not positive", class_name);
    match steady.classes().as_slice() {
        [] => "no values".to_owned(),
        [(class, _)] => name(*class).to_owned(),
        several => several
            .iter()
            .map(|(class, count)| format!("{count} {}", name(*class)))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_analyse::clean::InstanceSteady;
    use lapwing_model::Id;

    fn of(classes: &[Option<Class>]) -> BenchmarkSteady<'static> {
        let instance = |(position, class): (usize, &Option<Class>)| InstanceSteady {
            instance: Id::derived(&[&position.to_le_bytes()]),
            position,
            indices: [].into(),
            values: Vec::new().into(),
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
        let text = |classes: &[Option<Class>]| classes_text(&of(classes));
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
}
