//! The advised stack with its evidence.

use std::collections::BTreeMap;
use std::path::Path;

use lapwing_model::text::{capitalised, counted};
use lapwing_study::{Advice, StackChange, StackExpectation, StackModel, VersionEffect};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{ModelFields, expected, expected_text};
use crate::chart::{Chart, PageSection, SaveError, save_page_with};
use crate::study::{chart, stack_change_text};
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// An advised stack with its evidence.
#[derive(Debug)]
pub struct AdviceAnswer<'m> {
    /// The model of all measured stacks.
    pub model: &'m StackModel<'m>,
    /// The advice.
    pub advice: Advice,
    /// Notes on the data.
    pub notes: Vec<Note>,
}

/// The advised stack.
#[derive(Debug, Serialize, JsonSchema)]
struct AdviceFields<'m> {
    #[serde(flatten)]
    model: ModelFields<'m>,
    /// The type of advice.
    r#type: &'static str,
    /// Number of other stacks that could be advised.
    others: usize,
    /// Number of those that cannot be distinguished from the advised one.
    not_distinguishable: usize,
    /// The version of each package.
    stack: BTreeMap<&'m str, &'m str>,
    /// The advised stack, what it is compared with, and what makes the difference; with `--full` also the best stacks.
    evidence: Vec<AdviceRow>,
}

/// A piece of evidence. Expected values are of the only metric of the goal.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct AdviceRow {
    /// `advised`, `against`, `version`, `pair` or `ranked`.
    kind: &'static str,
    name: String,
    stack: Option<String>,
    instances: Option<usize>,
    is_measured: Option<bool>,
    attempts: Option<usize>,
    failures: Option<usize>,
    expected: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    /// The change to the advised stack, as a share.
    change: Option<f64>,
    change_lower: Option<f64>,
    change_upper: Option<f64>,
    is_distinguishable: Option<bool>,
}

/// A line of the evidence: a stack, a change to the advised one, or both.
#[derive(Default)]
struct EvidenceLine<'a> {
    kind: &'static str,
    name: String,
    stack: Option<&'a StackExpectation>,
    change: Option<StackChange>,
    /// The instances of the stack, or of a version's stack.
    instances: Option<usize>,
}

impl EvidenceLine<'_> {
    fn cells(&self, model: &StackModel<'_>) -> Vec<String> {
        let name = match (self.kind, self.stack) {
            ("advised", _) => "advised".to_owned(),
            ("ranked", Some(stack)) => {
                format!("rank {}: {}", self.name, model.data.text(&stack.stack))
            }
            (_, Some(stack)) => format!("against {}: {}", self.name, model.data.text(&stack.stack)),
            (_, None) => self.name.clone(),
        };
        let basis = match (self.stack, self.instances) {
            (Some(stack), _) => basis(stack),
            (None, Some(0)) => "inferred".to_owned(),
            (None, Some(count)) => format!("measured, {}", counted(count, "instance")),
            (None, None) => String::new(),
        };
        let change = self
            .change
            .map(|change| stack_change_text(model.data, change));
        vec![
            name,
            self.stack
                .map_or_else(String::new, |stack| expected_text(model, stack)),
            change.unwrap_or_default(),
            self.change
                .map_or_else(String::new, |change| verdict(change).to_owned()),
            basis,
        ]
    }

    fn row(&self, model: &StackModel<'_>) -> AdviceRow {
        let expected = self.stack.and_then(|stack| expected(model, stack));
        let shown = self.change.map(|change| model.data.shown(change));
        AdviceRow {
            kind: self.kind,
            name: self.name.clone(),
            stack: self.stack.map(|stack| model.data.text(&stack.stack)),
            instances: self.instances,
            is_measured: self.instances.map(|count| count > 0),
            attempts: self.stack.map(|stack| stack.outcome.attempts),
            failures: self.stack.map(|stack| stack.outcome.failures),
            expected: expected.map(|[value, ..]| value),
            lower: expected.map(|[_, lower, _]| lower),
            upper: expected.map(|[.., upper]| upper),
            change: shown.map(|it| it.change.exp_m1()),
            change_lower: shown.map(|it| it.interval.lower.exp_m1()),
            change_upper: shown.map(|it| it.interval.upper.exp_m1()),
            is_distinguishable: self.change.map(|it| it.is_distinguishable()),
        }
    }
}

impl AdviceAnswer<'_> {
    fn lines(&self) -> Vec<EvidenceLine<'_>> {
        let Self { model, advice, .. } = self;
        let of_stack = |kind, name, stack, change| EvidenceLine {
            kind,
            name,
            stack: Some(stack),
            change,
            instances: Some(stack.instances),
        };
        let advised = &advice.advised;
        let mut lines = vec![of_stack("advised", String::new(), advised, None)];
        for (name, other, change) in &advice.against {
            let name = (*name).to_owned();
            lines.push(of_stack("against", name, other, Some(*change)));
        }
        lines.extend(advice.drivers.iter().map(|driver| EvidenceLine {
            kind: "version",
            name: self.driver_name(driver),
            change: Some(driver.change),
            instances: Some(driver.instances),
            ..EvidenceLine::default()
        }));
        lines.extend(advice.interactions.iter().map(|pair| {
            let [one, other] = pair.factors.map(|at| &model.data.factors[at].name);
            EvidenceLine {
                kind: "pair",
                name: format!("{one} and {other} together, beyond both"),
                change: Some(pair.change),
                ..EvidenceLine::default()
            }
        }));
        for (rank, stack) in (1..).zip(&advice.best) {
            let change = model.against(&advised.stack, &stack.stack);
            let name = usize::to_string(&rank);
            lines.push(of_stack("ranked", name, stack, Some(change)));
        }
        lines
    }

    /// Returns the lines of a view: without the ranking if it is short.
    fn listed(&self, view: View) -> Vec<EvidenceLine<'_>> {
        let lines = self.lines().into_iter();
        lines
            .filter(|it| view.full || it.kind != "ranked")
            .collect()
    }

    fn advice_rows(&self, view: View) -> Vec<AdviceRow> {
        let lines = self.listed(view);
        lines.iter().map(|line| line.row(self.model)).collect()
    }

    pub(crate) fn driver_name(&self, driver: &VersionEffect) -> String {
        let package = &self.model.data.factors[driver.factor];
        let from = &package.versions[driver.level];
        let to = &package.versions[self.advice.advised.stack[driver.factor]];
        format!("{} {from} → {to}", package.name)
    }

    /// Returns the number of other candidates.
    fn others(&self) -> usize {
        self.model.candidates.len().saturating_sub(1)
    }

    /// Returns whether the advised stack can be told from another one.
    pub(crate) fn is_best(&self) -> bool {
        let others = self.others();
        others == 0 || self.advice.alike < others
    }

    pub(crate) fn headline(&self) -> String {
        let Self { model, advice, .. } = self;
        let advised = &advice.advised;
        let stack = model.data.text(&advised.stack);
        let expected = model.data.only_goal().map(|goal| {
            let text = expected_text(model, advised);
            format!("expected {} {text}, ", goal.metric.name.replace('_', " "))
        });
        let advice_text = if self.is_best() {
            format!("Use {stack}")
        } else {
            format!("No stack is clearly the best; {stack} is as good as any")
        };
        format!(
            "{advice_text} ({}): {}{}",
            advice.kind.name(),
            expected.unwrap_or_default(),
            basis(advised)
        )
    }

    /// Returns the justification in sentences.
    pub(crate) fn sentences(&self) -> Vec<Note> {
        let Self { model, advice, .. } = self;
        let what = match model.data.only_goal() {
            Some(_) => "",
            None => "mean cost of the goal ",
        };
        let against = advice.against.iter().map(|(name, _, change)| {
            let text = if change.is_distinguishable() {
                format!("{} than the {name}", verdict(*change))
            } else {
                format!("not distinguishable from the {name}")
            };
            let text = format!("{text}: {what}{}", stack_change_text(model.data, *change));
            Note::new("against", text).with("name", *name)
        });
        let mut sentences: Vec<Note> = against.collect();
        let others = self.others();
        let text = format!(
            "{} of {} cannot be distinguished from the advised one",
            advice.alike,
            counted(others, "other stack")
        );
        sentences.push(Note::new("alike", text));
        if advice.advised.instances == 0 {
            let text = "the advised stack was not measured: it is inferred from others; measure it before relying on it";
            sentences.push(Note::new("inferred", text));
        }
        let (_, reasons) = model.rules.score(model.data, &advice.advised.stack);
        sentences.extend(reasons.into_iter().map(|(reason, worth)| {
            let text = format!("scored: {reason} ({:+.1} %)", 100.0 * worth);
            Note::new("scored", text).with("share", worth)
        }));
        sentences
    }

    fn all_notes(&self) -> Vec<Note> {
        let sentences = self.sentences().into_iter();
        sentences.chain(self.notes.iter().cloned()).collect()
    }

    /// Saves a page with the advice and all charts.
    ///
    /// # Errors
    ///
    /// Returns the error of the file.
    pub fn save_page(&self, path: &Path) -> Result<(), SaveError> {
        let Self { model, advice, .. } = self;
        let drivers = advice.drivers.iter().map(|driver| {
            let change = stack_change_text(model.data, driver.change);
            format!("{}: {change}", self.driver_name(driver))
        });
        let sections = [
            ("Why", capitalised_all(&self.sentences())),
            // They begin with the names of packages.
            ("Versions", drivers.collect()),
            ("Notes", capitalised_all(&self.notes)),
        ];
        let sections = sections.into_iter().map(|(title, sentences)| PageSection {
            title: title.to_owned(),
            sentences,
        });
        let sections: Vec<PageSection> = sections.filter(|it| !it.sentences.is_empty()).collect();
        let lead = format!("{}.", self.headline());
        save_page_with(path, "Advice", &lead, &sections, &self.charts())
    }

    /// Returns the advised versions as a requirements file; the interpreter is a comment.
    pub fn requirements(&self) -> String {
        let stack = self.model.data.text(&self.advice.advised.stack);
        let mut text = format!("# lapwing advise --type {}\n", self.advice.kind.name());
        for pin in stack.split(' ') {
            if pin.starts_with("python==") {
                text.push_str("# ");
            }
            text.push_str(pin);
            text.push('\n');
        }
        text
    }
}

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<AdviceFields<'_>>("advise").listing("evidence");

impl Answer for AdviceAnswer<'_> {
    fn charts(&self) -> Vec<Chart> {
        vec![
            chart::stack_changes(self.model, &self.advice),
            chart::version_map(self.model, &self.advice),
        ]
    }

    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, view: View) -> TextAnswer {
        let mut table = Table::new(&[
            ("evidence", Left),
            ("expected", Right),
            ("change to the advised", Right),
            ("verdict", Left),
            ("basis", Left),
        ]);
        for line in self.listed(view) {
            table.row(line.cells(self.model));
        }
        TextAnswer {
            headline: self.headline(),
            table,
            notes: self.all_notes(),
            ..TextAnswer::default()
        }
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        let Self { model, advice, .. } = self;
        let stack = model.data.factors.iter().zip(&advice.advised.stack);
        let stack = stack.map(|(package, level)| {
            let version = package.versions[*level].as_str();
            (package.name.as_str(), version)
        });
        Ok(serde_json::to_value(AdviceFields {
            model: ModelFields::new(model),
            r#type: advice.kind.name(),
            others: self.others(),
            not_distinguishable: advice.alike,
            stack: stack.collect(),
            evidence: self.advice_rows(view),
        })?)
    }

    fn verdict(&self) -> Option<&'static str> {
        Some(if self.is_best() {
            "best"
        } else {
            "as_good_as_any"
        })
    }

    fn omitted_rows(&self, view: View) -> usize {
        self.lines().len() - self.listed(view).len()
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        let view = View {
            full: true,
            ..View::default()
        };
        csv_rows(&self.advice_rows(view))
    }
}

fn verdict(change: StackChange) -> &'static str {
    match (change.is_distinguishable(), change.change < 0.0) {
        (false, _) => "not distinguishable",
        (true, true) => "better",
        (true, false) => "worse",
    }
}

fn basis(expectation: &StackExpectation) -> String {
    let outcome = expectation.outcome;
    let failed = match outcome.failures {
        0 => String::new(),
        failures => format!(", {failures} of {} failed", outcome.attempts),
    };
    match expectation.instances {
        0 => format!("inferred{failed}"),
        count => format!("measured, {}{failed}", counted(count, "instance")),
    }
}

fn capitalised_all(notes: &[Note]) -> Vec<String> {
    notes.iter().map(|note| capitalised(&note.text)).collect()
}
