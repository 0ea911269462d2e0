//! Findings of a study in sentences.

use lapwing_model::Level;
use lapwing_model::text::{capitalised, counted, first_names, grouped, joined};
use lapwing_study::{
    BesideEffect, ConditionalEffect, FindingKind, FoldOver, LevelEffect, MainEffect,
    NextMeasurement, PairFinding, PairPattern, Recommendation, StudyContrast, StudyData,
    StudyFinding, StudyScale,
};

use super::StudyMetricText;

/// Returns the title of the findings of one kind.
pub fn finding_title(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Setting => "Recommended setting",
        FindingKind::Effect => "Strongest factors",
        FindingKind::Interaction => "Strongest interactions",
        FindingKind::Sign => "Factors that help or hurt",
        FindingKind::Level => "Factors whose effect depends on how slow the setting is",
        FindingKind::Beside => "Beside the factors",
        FindingKind::Undecided => "Not distinguishable from zero",
        FindingKind::Next => "What to measure next",
    }
}

/// Returns a finding of a study as a sentence.
pub fn study_finding_text(finding: &StudyFinding, data: &StudyData, scale: StudyScale) -> String {
    let words = FindingWords { data, scale };
    let text = match finding {
        StudyFinding::Setting(setting) => words.setting(setting),
        StudyFinding::Effect(effect) => words.effect(effect),
        StudyFinding::Pair(pair) => words.pair(pair),
        StudyFinding::Level(level) => words.level(level),
        StudyFinding::Beside(beside) => words.beside(beside),
        StudyFinding::Undecided(effect) => words.undecided(effect),
        StudyFinding::Next(next) => words.next(next),
    };
    if text.starts_with('`') {
        text
    } else {
        capitalised(&text)
    }
}

/// Returns which findings a fold-over tells from what they could be instead.
pub fn fold_text(fold: &FoldOver) -> String {
    let all = counted(fold.aliased, "finding");
    let told = match fold.told {
        told if told < fold.aliased => format!("{told} of {all}"),
        _all => all,
    };
    format!("{told} from the effects or interactions that they could be instead")
}

/// Returns the name of the base level of a treatment's factor; `None` if the factor is absent there.
pub fn base_text(data: &StudyData, treatment: usize) -> Option<String> {
    let factor = &data.factors[data.treatments[treatment].factor];
    match factor.levels.first()? {
        Level::Bool(false) if factor.levels.len() == 2 => None,
        level => Some(format!("{}={level}", factor.name)),
    }
}

struct FindingWords<'a> {
    data: &'a StudyData,
    scale: StudyScale,
}

impl FindingWords<'_> {
    fn name(&self, treatment: usize) -> String {
        format!("`{}`", self.data.treatments[treatment].name)
    }

    fn names(&self, treatments: &[usize]) -> Vec<String> {
        treatments.iter().map(|at| self.name(*at)).collect()
    }

    fn change(&self, contrast: &StudyContrast) -> String {
        let metric = &self.data.metric;
        metric.change_with_interval(self.scale, contrast.change, contrast.interval)
    }

    fn value(&self, value: f64) -> String {
        self.data.metric.value_text(self.scale, value)
    }

    fn verb(&self, change: f64) -> &'static str {
        if self.data.metric.is_gain(self.scale, change) {
            "helps"
        } else {
            "hurts"
        }
    }

    /// Returns `without b`, or `at b=1` where the base is a level.
    fn without(&self, treatment: usize) -> String {
        match base_text(self.data, treatment) {
            Some(base) => format!("at `{base}`"),
            None => format!("without {}", self.name(treatment)),
        }
    }

    fn without_it(&self, treatment: usize) -> String {
        match base_text(self.data, treatment) {
            Some(_) => self.without(treatment),
            None => "without it".to_owned(),
        }
    }

    /// Returns `with` a treatment by a word for it, or `at b=2` where it is a level.
    fn with(&self, treatment: usize, word: &str) -> String {
        match base_text(self.data, treatment) {
            Some(_) => format!("at {}", self.name(treatment)),
            None => format!("with {word}"),
        }
    }

    fn setting(&self, setting: &Recommendation) -> String {
        let (value, interval) = setting.value;
        if !setting.is_told {
            return format!(
                "{} is best if the effects are those of the factors that are named first: these runs cannot tell ({} of it \
                 measured)",
                self.data.set_text(setting.set),
                counted(setting.instances, "instance")
            );
        }
        format!(
            "{} is expected to take {} [{}, {}], {} against the base ({} of it measured)",
            self.data.set_text(setting.set),
            self.value(value),
            self.value(interval.lower),
            self.value(interval.upper),
            self.change(&setting.beside_base),
            counted(setting.instances, "instance")
        )
    }

    fn effect(&self, effect: &MainEffect) -> String {
        let name = self.name(effect.treatment);
        let [without, with] = effect.instances.map(grouped);
        format!(
            "{name} {}: {} on average over all combinations of the others ({with} instances with it, {without} \
             without){}",
            self.verb(effect.effect.change),
            self.change(&effect.effect),
            match effect.is_of_sessions {
                true =>
                    ", or what else differs between the sessions: these runs cannot tell".to_owned(),
                false => self.or_instead(&effect.aliases),
            }
        )
    }

    /// Returns the other terms that it could be, if there are any.
    fn or_instead(&self, aliases: &[Vec<usize>]) -> String {
        const SHOWN: usize = 3;
        if aliases.is_empty() {
            return String::new();
        }
        let mut names: Vec<String> = (aliases.iter().take(SHOWN))
            .map(|own| self.names(own).join(" × "))
            .collect();
        if aliases.len() > SHOWN {
            names.push(counted(aliases.len() - SHOWN, "other pair"));
        }
        format!(", or {}: these runs cannot tell", names.join(", or "))
    }

    fn undecided(&self, effect: &MainEffect) -> String {
        // Many effects are tested, so that one of them seems to differ more easily.
        let interval = effect.effect.interval;
        let fewest = effect.instances.iter().min().copied().unwrap_or(0);
        if fewest < 3 {
            let name = self.name(effect.treatment);
            let change = self.change(&effect.effect);
            return format!(
                "{name}: {change}; {} with or without it: too few",
                counted(fewest, "instance")
            );
        }
        let is_apart = interval.is_some_and(|it| it.lower > 0.0 || it.upper < 0.0);
        let correction = match (is_apart, effect.is_mixed) {
            (true, true) => "; pairs of others can look like it in these settings",
            (true, false) => "; not significant among all factors and pairs",
            (false, _) => "",
        };
        let name = self.name(effect.treatment);
        format!("{name}: {}{correction}", self.change(&effect.effect))
    }

    fn pair(&self, pair: &PairFinding) -> String {
        let [one, other] = [pair.first.treatment, pair.first.other].map(|at| self.name(at));
        match pair.pattern {
            PairPattern::ChangesSign => {
                let ConditionalEffect { without, with, .. } = &pair.first;
                format!(
                    "{one} {} ({}) {} and {} ({}) {}",
                    self.verb(without.change),
                    self.change(without),
                    self.without(pair.first.other),
                    self.verb(with.change),
                    self.change(with),
                    self.with(pair.first.other, "it")
                )
            }
            PairPattern::EitherOr([first, second]) => {
                let percent = |share: f64| format!("{:.0} %", 100.0 * share.max(0.0));
                format!(
                    "either-or: {one} ({} {}) and {other} ({} {}) remove the same cost; after {other}, {one} \
                     gains {} of that, after {one}, {other} {}",
                    self.change(&pair.first.without),
                    self.without(pair.first.other),
                    self.change(&pair.second.without),
                    self.without(pair.first.treatment),
                    percent(first),
                    percent(second)
                )
            }
            PairPattern::Depends => format!(
                "{one} depends on {other}: {} {}, {} {}",
                self.change(&pair.first.without),
                self.without_it(pair.first.other),
                self.change(&pair.first.with),
                self.with(pair.first.other, "it")
            ),
            PairPattern::NotTold => {
                let instead: Vec<String> = (pair.aliases.iter().take(3))
                    .map(|own| match &self.names(own)[..] {
                        [one, other] => format!("that of {one} on {other}"),
                        names => joined(names),
                    })
                    .collect();
                format!(
                    "the effect of {one} depends on {other}, or {}: these runs cannot tell",
                    instead.join(", or ")
                )
            }
        }
    }

    fn level(&self, level: &LevelEffect) -> String {
        let name = self.name(level.treatment);
        let at = |(value, effect): &(f64, StudyContrast)| {
            format!("{} at {}", self.change(effect), self.value(*value))
        };
        let [low, high] = [at(&level.low), at(&level.high)];
        match level.crossing {
            Some((value, interval)) => format!(
                "{name} {} where the value without it is above {} [{}, {}] ({high}), and {} below ({low})",
                self.verb(level.high.1.change),
                self.value(value),
                self.value(interval.lower),
                self.value(interval.upper),
                self.verb(level.low.1.change)
            ),
            None => format!("{name} depends on the value without it: {high}, {low}"),
        }
    }

    fn beside(&self, beside: &BesideEffect) -> String {
        match beside {
            BesideEffect::TimeOfDay { amplitude, hour } => format!(
                "results depend on the time of day: {} around {hour:.0}:00 UTC, and {} twelve hours later; effects \
                 allow for it",
                self.data.metric.change_text(self.scale, *amplitude),
                self.data.metric.change_text(self.scale, -amplitude)
            ),
            BesideEffect::Sessions { sessions, change } => format!(
                "results differ between the {sessions} sessions, or parts of one with long pauses between them, by up to {}; \
                 effects allow for it",
                self.data.metric.size_text(self.scale, *change)
            ),
            BesideEffect::Drift {
                change,
                interval,
                days,
            } => format!(
                "results drifted by {} from the first to the last instance ({}); effects allow for it",
                self.data
                    .metric
                    .change_with_interval(self.scale, *change, *interval),
                match 24.0 * days {
                    hours if hours >= 48.0 => format!("{days:.0} days"),
                    hours if hours >= 2.0 => format!("{hours:.1} hours"),
                    hours => format!("{:.0} minutes", 60.0 * hours),
                }
            ),
        }
    }

    fn next(&self, next: &NextMeasurement) -> String {
        match next {
            NextMeasurement::Confirm { set, runner_up } => {
                let own = self.data.set_text(*set);
                let others = match runner_up {
                    0 => "and of the base".to_owned(),
                    set => format!("of {} and of the base", self.data.set_text(*set)),
                };
                format!(
                    "confirm the recommended setting: several fresh instances of {own}{} {others} in turn",
                    if *runner_up == 0 { "" } else { "," }
                )
            }
            NextMeasurement::NotTold { treatments } => format!(
                "the effect of {} cannot be told from others: measure more settings with and without",
                first_names(self.names(treatments), 5)
            ),
            NextMeasurement::FoldOver(fold) => format!(
                "{} with {} (a fold-over) would tell {}",
                counted(fold.settings, "more setting"),
                if fold.is_whole {
                    "every level exchanged".to_owned()
                } else {
                    let names = self.names(&fold.treatments);
                    format!("the levels of {} exchanged", joined(names))
                },
                fold_text(fold)
            ),
            NextMeasurement::Replicates => "replicate a few settings: without replicates noise \
                and interactions cannot be told apart"
                .to_owned(),
            NextMeasurement::MoreInstances { times, .. } => format!(
                "intervals of all undecided factors within ±5 % need about {}× as many instances \
                 like these",
                grouped(format_args!("{times:.0}"))
            ),
            NextMeasurement::OpenPairs { open, pairs } => {
                let verb = if *open == 1 { "has" } else { "have" };
                let pairs = counted(*pairs, "interaction");
                format!("{open} of {pairs} {verb} too few settings to be told")
            }
        }
    }
}
