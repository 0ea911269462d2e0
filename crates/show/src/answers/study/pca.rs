//! Treatments that take the place of each other: `lapwing study effects --show pca`.

use lapwing_model::text::counted;
use lapwing_stats::Seed;
use lapwing_study::{StudyComponents, StudyData, StudyScale, StudyViewError, components};
use schemars::JsonSchema;
use serde::Serialize;

use super::fields::StudyFields;
use super::{StudyAnswer, StudyAnswerError};
use crate::percent;
use crate::study::{SEQUENCES, component_charts};
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Note, Table};

/// Maximum number of listed components.
const SHOWN: usize = 8;

/// Components with a smaller share of the variance are not listed.
const SMALLEST: f64 = 0.0005;

/// The components.
#[derive(Debug, Serialize, JsonSchema)]
struct ComponentsFields<'d> {
    /// The setting that the sequences start from.
    from: String,
    /// The setting that they end at.
    to: String,
    /// Number of sequences.
    sequences: usize,
    /// Share of the variance that the first two components hold together.
    first_two: f64,
    components: Vec<ComponentRow<'d>>,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<StudyFields<'_, ComponentsFields<'_>>>("study-pca").listing("components");

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

/// A principal component.
#[derive(Debug, Serialize, JsonSchema)]
struct ComponentRow<'d> {
    #[serde(flatten)]
    head: ComponentHead,
    loadings: Vec<Loading<'d>>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
struct ComponentHead {
    /// Its number, from 1.
    component: usize,
    variance: f64,
    /// Its share of the variance.
    share: f64,
    /// The share of this and the components before it.
    together: f64,
}

/// How much a treatment contributes to a component.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
struct Loading<'d> {
    treatment: &'d str,
    loading: f64,
}

/// A loading for spreadsheets.
#[derive(Default, Serialize)]
struct LoadingRow<'d> {
    #[serde(flatten)]
    head: ComponentHead,
    #[serde(flatten)]
    loading: Loading<'d>,
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
        let mut components = Vec::new();
        for (number, component) in (1..).zip(&sequences.components) {
            together += component.share;
            table.row(vec![
                number.to_string(),
                percent(component.share),
                percent(together),
                axis_text(data, &sequences, &component.loadings),
            ]);
            let pairs = sequences.treatments.iter().zip(&component.loadings);
            components.push(ComponentRow {
                head: ComponentHead {
                    component: number,
                    variance: component.variance,
                    share: component.share,
                    together,
                },
                loadings: pairs
                    .map(|(at, loading)| Loading {
                        treatment: &data.treatments[*at].name,
                        loading: *loading,
                    })
                    .collect(),
            });
        }
        let large = components.iter().filter(|it| it.head.share > SMALLEST);
        let shown = large.count().min(SHOWN);
        let rows = components.iter().flat_map(|component| {
            let loadings = component.loadings.iter();
            loadings.map(|loading| LoadingRow {
                head: component.head,
                loading: *loading,
            })
        });
        let rows: Vec<LoadingRow<'_>> = rows.collect();
        let two: f64 = sequences.components.iter().take(2).map(|it| it.share).sum();
        let first = sequences.components.first();
        let (from, to) = (data.set_text(sequences.from), data.set_text(sequences.to));
        let text = format!("sequences from {from} to {to}");
        let fields = ComponentsFields {
            from,
            to,
            sequences: sequences.sequences,
            first_two: two,
            components,
        };
        Ok(Self {
            headline: format!(
                "two components hold {} of the variance of {}; the first: {}",
                percent(two),
                counted(sequences.sequences, "sequence"),
                first.map_or_else(String::new, |it| axis_text(data, &sequences, &it.loadings))
            ),
            table,
            shown: Some(shown),
            notes: vec![Note::new("sequences", text)],
            charts: component_charts(data, scale, &sequences),
            ..Self::of_view(&KIND, data, scale, &rows, fields)?
        })
    }
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
