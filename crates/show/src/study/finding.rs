//! Findings of a study in sentences.

use lapwing_model::text::{capitalised, counted, first_names, grouped};
use lapwing_stats::Interval;
use lapwing_study::{
    AveragedOver, FindingKind, MainEffect, NextMeasurement, PairPattern, StudyData, StudyFinding,
    StudyScale, TreatmentPair, TreatmentWithAnother,
};

use super::StudyMetricText;

/// Returns the title of the findings of one kind.
pub fn finding_title(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Effect => "Strongest factors",
        FindingKind::Interaction => "Strongest interactions",
        FindingKind::Sign => "Factors whose sign depends on another",
        FindingKind::Undecided => "Not distinguishable from zero",
        FindingKind::Next => "What to measure next",
    }
}

/// Returns a finding of a study as a sentence.
pub fn study_finding_text(finding: &StudyFinding, data: &StudyData, scale: StudyScale) -> String {
    let words = FindingWords { data, scale };
    let text = match finding {
        StudyFinding::Effect(effect) => words.effect(effect),
        StudyFinding::Interaction(pair) => words.interaction(pair),
        StudyFinding::ModelPair {
            treatments,
            change,
            interval,
        } => words.model_pair(*treatments, *change, *interval),
        StudyFinding::Sign(sign) => words.sign(sign),
        StudyFinding::Undecided(effect) => words.undecided(effect),
        StudyFinding::Next(next) => words.next(next),
    };
    if text.starts_with('`') {
        text
    } else {
        capitalised(&text)
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

    fn change(&self, change: f64) -> String {
        self.data.metric.change_text(self.scale, change)
    }

    fn change_with_interval(&self, change: f64, interval: Option<Interval>) -> String {
        let metric = &self.data.metric;
        metric.change_with_interval(self.scale, change, interval)
    }

    fn verb(&self, change: f64) -> &'static str {
        if self.data.metric.is_gain(self.scale, change) {
            "helps"
        } else {
            "hurts"
        }
    }

    /// Returns the change and the settings that it is an average over.
    fn average(&self, effect: &MainEffect) -> String {
        let change = self.change_with_interval(effect.change, effect.interval);
        match effect.over {
            AveragedOver::Combinations => {
                format!("{change} on average over all combinations of the others")
            }
            AveragedOver::SettingPairs(pairs) => format!(
                "{change} on average over {} of settings",
                counted(pairs, "pair")
            ),
        }
    }

    fn effect(&self, effect: &MainEffect) -> String {
        let name = self.name(effect.treatment);
        format!(
            "{name} {}: {}",
            self.verb(effect.change),
            self.average(effect)
        )
    }

    fn undecided(&self, effect: &MainEffect) -> String {
        // Several effects are tested, so that one of them seems to differ more easily.
        let excludes_zero = effect
            .interval
            .is_some_and(|it| it.lower > 0.0 || it.upper < 0.0);
        let correction = if excludes_zero {
            "; not significant after correction for all effects"
        } else {
            ""
        };
        let name = self.name(effect.treatment);
        format!("{name}: {}{correction}", self.average(effect))
    }

    fn interaction(&self, pair: &TreatmentPair) -> String {
        let [first, second] = pair.treatments.map(|at| self.name(at));
        let [alone, other_alone] = pair.alone.map(|change| self.change(change));
        let both = self.change(pair.both);
        let numbers = format!("alone {alone} and {other_alone}, both {both}");
        match &pair.pattern {
            PairPattern::HelpEachOther => {
                format!("{first} and {second} help each other: {numbers}")
            }
            PairPattern::UndoInPart => {
                format!("{first} and {second} undo each other in part: {numbers}")
            }
            PairPattern::SameCost => {
                format!("either of {first} and {second} removes the same cost: {numbers}")
            }
            PairPattern::PartlySameCost => {
                format!("{first} and {second} remove partly the same cost: {numbers}")
            }
            PairPattern::MakeWorse => {
                format!("{first} and {second} make each other worse: {numbers}")
            }
            PairPattern::UndoEachOther => {
                format!("{first} and {second} undo each other's cost: {numbers}")
            }
            PairPattern::PartlySameHarm => {
                format!("{first} and {second} cost partly the same: {numbers}")
            }
            PairPattern::Depends(with_another) => format!(
                "the effect of {} is {} without {} and {} with it",
                self.name(with_another.treatment),
                self.change(with_another.without),
                self.name(with_another.other),
                self.change(with_another.with)
            ),
        }
    }

    fn model_pair(
        &self,
        treatments: [usize; 2],
        change: f64,
        interval: Option<Interval>,
    ) -> String {
        let [one, other] = treatments.map(|at| self.name(at));
        let change = self.change_with_interval(change, interval);
        format!(
            "{one} and {other} together change {change} beyond the sum of both (estimated by the model)"
        )
    }

    fn sign(&self, sign: &TreatmentWithAnother) -> String {
        let [factor, other] = [sign.treatment, sign.other].map(|at| self.name(at));
        format!(
            "{factor} {} ({}) without {other} and {} ({}) with it",
            self.verb(sign.without),
            self.change(sign.without),
            self.verb(sign.with),
            self.change(sign.with)
        )
    }

    fn next(&self, next: &NextMeasurement) -> String {
        match next {
            NextMeasurement::NeverAlone { treatments } => {
                let names: Vec<String> = treatments.iter().map(|at| self.name(*at)).collect();
                format!(
                    "no pair of settings differs by {} alone: measure some with and without",
                    first_names(&names, 5)
                )
            }
            NextMeasurement::Replicates => "replicate a few settings: without replicates noise \
                and interactions cannot be told apart"
                .to_owned(),
            NextMeasurement::MoreInstances { times, .. } => format!(
                "intervals of all undecided factors within ±5 % need about {}× as many instances \
                 like these",
                grouped(format_args!("{times:.0}"))
            ),
            NextMeasurement::Setting { set, deltas } => format!(
                "measure {}: {} of the factors that are undecided",
                self.data.set_text(*set),
                counted(*deltas, "more delta")
            ),
            NextMeasurement::OpenPairs { open, pairs } => {
                let verb = if *open == 1 { "has" } else { "have" };
                let pairs = counted(*pairs, "interaction");
                format!("{open} of {pairs} {verb} too few settings to be told")
            }
        }
    }
}
