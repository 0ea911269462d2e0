//! The advised stack with its evidence.

use std::path::Path;

use lapwing_model::text::{capitalised, counted};
use lapwing_study::{Advice, StackChange, StackExpectation, StackModel, VersionEffect};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{about, expected, expected_text};
use crate::chart::{PageSection, SaveError, save_page_with};
use crate::study::{chart, stack_change_text};
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Table, TextAnswer, Untyped, View, WriteError, csv_rows, uncoded,
};

/// An advised stack with its evidence.
#[derive(Debug)]
pub struct AdviceAnswer<'m> {
    /// The model of all measured stacks.
    pub model: &'m StackModel<'m>,
    /// The advice.
    pub advice: Advice,
    /// Notes on the data.
    pub notes: Vec<String>,
}

#[derive(Default, Serialize)]
struct AdviceRow {
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
    change_percent: Option<f64>,
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
        let percent = |value: f64| 100.0 * value.exp_m1();
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
            change_percent: shown.map(|it| percent(it.change)),
            change_lower: shown.map(|it| percent(it.interval.lower)),
            change_upper: shown.map(|it| percent(it.interval.upper)),
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

    fn advice_rows(&self) -> Vec<AdviceRow> {
        let lines = self.lines();
        lines.iter().map(|line| line.row(self.model)).collect()
    }

    fn driver_name(&self, driver: &VersionEffect) -> String {
        let package = &self.model.data.factors[driver.factor];
        let from = &package.versions[driver.level];
        let to = &package.versions[self.advice.advised.stack[driver.factor]];
        format!("{} {from} → {to}", package.name)
    }

    fn headline(&self) -> String {
        let Self { model, advice, .. } = self;
        let advised = &advice.advised;
        let stack = model.data.text(&advised.stack);
        let expected = model.data.only_goal().map(|goal| {
            let text = expected_text(model, advised);
            format!("expected {} {text}, ", goal.metric.name.replace('_', " "))
        });
        let others = model.candidates.len().saturating_sub(1);
        let advice_text = if others > 0 && advice.alike >= others {
            format!("No stack is clearly the best; {stack} is as good as any")
        } else {
            format!("Use {stack}")
        };
        format!(
            "{advice_text} ({}): {}{}",
            advice.kind.name(),
            expected.unwrap_or_default(),
            basis(advised)
        )
    }

    /// Returns the justification in sentences.
    fn sentences(&self) -> Vec<String> {
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
            format!("{text}: {what}{}", stack_change_text(model.data, *change))
        });
        let mut sentences: Vec<String> = against.collect();
        let others = model.candidates.len().saturating_sub(1);
        sentences.push(format!(
            "{} of {} cannot be distinguished from the advised one",
            advice.alike,
            counted(others, "other stack")
        ));
        if advice.advised.instances == 0 {
            sentences.push(
                "the advised stack was not measured: it is inferred from others; measure it before relying on it".to_owned(),
            );
        }
        let (_, reasons) = model.rules.score(model.data, &advice.advised.stack);
        sentences.extend(
            reasons
                .into_iter()
                .map(|reason| format!("scored: {reason}")),
        );
        sentences
    }

    fn all_notes(&self) -> Vec<String> {
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
        let charts = [
            chart::stack_changes(model, advice),
            chart::version_map(model, advice),
        ];
        let lead = format!("{}.", self.headline());
        save_page_with(path, "Advice", &lead, &sections, &charts)
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

/// Its fields for programs.
const KIND: AnswerKind = AnswerKind::of::<Untyped>("advise");

impl Answer for AdviceAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let mut table = Table::new(&[
            ("evidence", Left),
            ("expected", Right),
            ("change to the advised", Right),
            ("verdict", Left),
            ("basis", Left),
        ]);
        let lines = self.lines().into_iter();
        for line in lines.filter(|line| line.kind != "ranked") {
            table.row(line.cells(self.model));
        }
        TextAnswer {
            headline: self.headline(),
            table,
            notes: uncoded(self.all_notes()),
            next: Vec::new(),
            has_table_first: false,
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let Self { model, advice, .. } = self;
        let stack = model.data.factors.iter().zip(&advice.advised.stack);
        let stack =
            stack.map(|(package, level)| (package.name.clone(), json!(package.versions[*level])));
        let mut json = about(model);
        json["type"] = json!(advice.kind.name());
        json["not_distinguishable"] = json!(advice.alike);
        json["stack"] = Value::Object(stack.collect::<Map<_, _>>());
        json["evidence"] = json!(self.advice_rows());
        json["headline"] = json!(self.headline());
        json["notes"] = json!(self.all_notes());
        Ok(json)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.advice_rows())
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

fn capitalised_all(sentences: &[String]) -> Vec<String> {
    sentences.iter().map(|text| capitalised(text)).collect()
}
