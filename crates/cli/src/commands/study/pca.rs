//! `lapwing study effects --show pca`: which treatments take the place of each other.

use lapwing_model::text::counted;
use lapwing_show::study::{SEQUENCES, component_charts};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::Table;
use lapwing_stats::Seed;
use lapwing_study::{StudyComponents, StudyData, StudyScale, components};
use serde::Serialize;
use serde_json::{Value, json};

use super::answer::StudyAnswer;
use super::effects::StudyEffects;
use super::options::with_hint;
use crate::error::CliError;

/// Sequences that are enough for components.

#[derive(Default, Serialize)]
pub struct ComponentRow {
    component: usize,
    variance: f64,
    share: f64,
    loadings: Value,
}

impl StudyEffects {
    /// Returns the components.
    ///
    /// A sequence goes through measured settings, one treatment more at a time; its observation is what each of them
    /// changed.
    pub fn pca(
        &self,
        data: &StudyData,
        scale: StudyScale,
    ) -> Result<StudyAnswer<ComponentRow>, CliError> {
        let from = data
            .named_set(self.from.as_deref().unwrap_or_default())
            .map_err(with_hint)?;
        let to = self
            .to
            .as_deref()
            .map(|text| data.named_set(text))
            .transpose();
        let to = to.map_err(with_hint)?;
        let found = components(
            data,
            scale,
            from,
            to,
            self.sequences.unwrap_or(SEQUENCES),
            Seed(self.seed.unwrap_or(7)),
        );
        let found = found.ok_or_else(|| {
            CliError::not_enough(format!(
                "no two sequences of measured settings start at {}",
                data.set_text(from)
            ))
            .hint("a design of walks or a full factorial has them")
        })?;
        let mut table = Table::new(&[
            ("component", Right),
            ("variance", Right),
            ("together", Right),
            ("treatments", Left),
        ]);
        let mut together = 0.0;
        for (at, own) in found
            .components
            .iter()
            .enumerate()
            .filter(|(_, own)| own.share > 0.0005)
            .take(8)
        {
            together += own.share;
            table.row(vec![
                (at + 1).to_string(),
                lapwing_show::percent(own.share),
                lapwing_show::percent(together),
                axis_text(data, &found, at),
            ]);
        }
        let rows = found
            .components
            .iter()
            .enumerate()
            .map(|(at, own)| ComponentRow {
                component: at + 1,
                variance: own.variance,
                share: own.share,
                loadings: loadings(data, &found, at),
            });
        let two: f64 = found.components.iter().take(2).map(|own| own.share).sum();
        Ok(StudyAnswer {
            headline: format!(
                "two components hold {} of the variance of {}; the first: {}",
                lapwing_show::percent(two),
                counted(found.sequences, "sequence"),
                axis_text(data, &found, 0)
            ),
            table,
            notes: vec![format!(
                "sequences from {} to {}",
                data.set_text(found.from),
                data.set_text(found.to)
            )],
            rows: rows.collect(),
            key: "components",
            more: json!({"from": data.set_text(found.from), "to": data.set_text(found.to), "sequences": found.sequences}),
            charts: component_charts(data, scale, &found),
        })
    }
}

fn loadings(data: &StudyData, found: &StudyComponents, at: usize) -> Value {
    let own = found.treatments.iter().zip(&found.components[at].loadings);
    let pairs =
        own.map(|(treatment, loading)| (data.treatments[*treatment].name.clone(), json!(loading)));
    Value::Object(pairs.collect())
}

/// Returns the treatments that matter on a component, opposite ones apart: `a against b`.
fn axis_text(data: &StudyData, found: &StudyComponents, at: usize) -> String {
    const MATTERS: f64 = 0.3;
    let side = |sign: f64| {
        let own = found.treatments.iter().zip(&found.components[at].loadings);
        let mut own: Vec<(usize, f64)> = own
            .map(|(treatment, it)| (*treatment, it * sign))
            .filter(|(_, it)| *it > MATTERS)
            .collect();
        own.sort_by(|one, other| other.1.total_cmp(&one.1));
        let names: Vec<&str> = own
            .iter()
            .map(|(it, _)| data.treatments[*it].name.as_str())
            .collect();
        names.join(", ")
    };
    match (side(1.0), side(-1.0)) {
        (one, other) if other.is_empty() => one,
        (one, other) => format!("{one} against {other}"),
    }
}
