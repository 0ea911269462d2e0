//! Treatments that take the place of each other: `lapwing study effects --show pca`.

use lapwing_model::text::counted;
use lapwing_stats::Seed;
use lapwing_study::{StudyComponents, StudyData, StudyScale, StudyViewError, components};
use serde::Serialize;
use serde_json::{Value, json};

use super::{StudyAnswer, StudyAnswerError};
use crate::percent;
use crate::study::{SEQUENCES, component_charts};
use crate::writing::Align::{Left, Right};
use crate::writing::Table;

/// Maximum number of rows of the table.
const SHOWN: usize = 8;

/// A question about sequences of measured settings, each with one treatment more.
#[derive(Debug)]
pub struct ComponentQuestion<'a> {
    /// The setting to start from.
    pub from: &'a str,
    /// The setting to end at; `None` for the largest that several sequences reach.
    pub to: Option<&'a str>,
    /// The number of sequences; `None` for 550.
    pub sequences: Option<usize>,
    /// The seed of their choice.
    pub seed: Seed,
}

#[derive(Default, Serialize)]
struct ComponentRow {
    component: usize,
    variance: f64,
    share: f64,
    loadings: Value,
}

impl<'d> StudyAnswer<'d> {
    /// Returns the principal components of what each treatment of a sequence changed.
    pub fn components(
        data: &'d StudyData,
        scale: StudyScale,
        question: &ComponentQuestion<'_>,
    ) -> Result<Self, StudyAnswerError> {
        let named = |text: &str| data.named_set(text).map_err(StudyViewError::from);
        let from = named(question.from)?;
        let to = question.to.map(named).transpose()?;
        let count = question.sequences.unwrap_or(SEQUENCES);
        let Some(sequences) = components(data, scale, from, to, count, question.seed) else {
            let from = data.set_text(from);
            return Err(StudyViewError::NoSequences { from }.into());
        };
        let mut table = Table::new(&[
            ("component", Right),
            ("variance", Right),
            ("together", Right),
            ("treatments", Left),
        ]);
        let mut together = 0.0;
        let numbered = (1..).zip(&sequences.components);
        let large = numbered.filter(|(_, component)| component.share > 0.0005);
        for (number, component) in large.take(SHOWN) {
            together += component.share;
            table.row(vec![
                number.to_string(),
                percent(component.share),
                percent(together),
                axis_text(data, &sequences, &component.loadings),
            ]);
        }
        let rows = (1..).zip(&sequences.components);
        let rows = rows.map(|(number, component)| ComponentRow {
            component: number,
            variance: component.variance,
            share: component.share,
            loadings: loadings_json(data, &sequences, &component.loadings),
        });
        let rows: Vec<ComponentRow> = rows.collect();
        let two: f64 = sequences.components.iter().take(2).map(|it| it.share).sum();
        let first = sequences.components.first();
        let (from, to) = (data.set_text(sequences.from), data.set_text(sequences.to));
        let more = json!({"from": from, "to": to, "sequences": sequences.sequences});
        Ok(Self {
            headline: format!(
                "two components hold {} of the variance of {}; the first: {}",
                percent(two),
                counted(sequences.sequences, "sequence"),
                first.map_or_else(String::new, |it| axis_text(data, &sequences, &it.loadings))
            ),
            table,
            notes: vec![format!("sequences from {from} to {to}")],
            charts: component_charts(data, scale, &sequences),
            ..Self::of_rows(data, scale, ("components", &rows), more)?
        })
    }
}

fn loadings_json(data: &StudyData, sequences: &StudyComponents, loadings: &[f64]) -> Value {
    let pairs = sequences.treatments.iter().zip(loadings);
    let pairs = pairs.map(|(at, loading)| (data.treatments[*at].name.clone(), json!(loading)));
    Value::Object(pairs.collect())
}

/// Returns the treatments that matter on a component, opposite ones apart: `a against b`.
fn axis_text(data: &StudyData, sequences: &StudyComponents, loadings: &[f64]) -> String {
    const MATTERS: f64 = 0.3;
    let side = |sign: f64| {
        let pairs = sequences.treatments.iter().zip(loadings);
        let mut pairs: Vec<(usize, f64)> = pairs
            .map(|(treatment, loading)| (*treatment, loading * sign))
            .filter(|(_, loading)| *loading > MATTERS)
            .collect();
        pairs.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let names = pairs
            .iter()
            .map(|(at, _)| data.treatments[*at].name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    match (side(1.0), side(-1.0)) {
        (one, other) if other.is_empty() => one,
        (one, other) => format!("{one} against {other}"),
    }
}
