//! The tile map of pair interactions.

use crate::Chart;
use crate::chart::build::{ChangeCell, ChangeTable, MOST_SHADES};
use crate::study::StudyMetricText;
use lapwing_stats::linear_model::ModelTerm;

use lapwing_study::StudyData;
use lapwing_study::{FittedColumn, StudyFit};

/// Returns the symmetric map of the interactions of a fit; treatments with the most negative sums come first.
pub fn tiles(data: &StudyData, fit: &StudyFit) -> Chart {
    let scale = fit.options.scale;
    let pairs: Vec<(&FittedColumn, [String; 2])> = fit
        .effects()
        .filter(|own| matches!(own.term, ModelTerm::Pair(..)))
        .filter_map(|own| {
            let (one, other) = own.name.split_once(':')?;
            Some((own, [one.to_owned(), other.to_owned()]))
        })
        .collect();
    let mut names: Vec<(String, f64)> = Vec::new();
    for (column, both) in &pairs {
        let estimate = column.coefficient.map_or(0.0, |it| it.estimate);
        for name in both {
            match names.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum += estimate,
                None => names.push((name.clone(), estimate)),
            }
        }
    }
    names.sort_by(|one, other| other.1.total_cmp(&one.1));
    let place = |name: &str| {
        names
            .iter()
            .position(|(known, _)| known == name)
            .unwrap_or(0)
    };
    let largest = (pairs.iter().filter_map(|(own, _)| own.coefficient))
        .map(|own| own.estimate.abs())
        .fold(0.0, f64::max);
    let count = names.len();
    let cells = pairs.iter().flat_map(|(column, both)| {
        let [x, y] = [place(&both[0]), place(&both[1])];
        [(x, y), (y, x)].map(|(x, y)| {
            // The strongest negative ones are in the upper right corner.
            ((x, count - 1 - y), cell(data, fit, column, largest))
        })
    });
    let table = ChangeTable {
        rows: names.iter().rev().map(|(name, _)| name.clone()).collect(),
        columns: names.iter().map(|(name, _)| name.clone()).collect(),
        columns_name: "",
        cells: cells.collect(),
    };
    Chart::new(
        "tiles",
        format!("Interactions of pairs ({} scale)", scale.name()),
        "What having both changes beyond the sum of the two. Blue: more is saved together; orange: they save the same. \
         Framed: distinguishable from zero (FDR 5 %); grey: not estimable."
            .to_owned(),
        table.height(),
        table.into_option(),
    )
}

fn cell(data: &StudyData, fit: &StudyFit, column: &FittedColumn, largest: f64) -> ChangeCell {
    let scale = fit.options.scale;
    let estimate = column.coefficient.map(|it| it.estimate);
    let worse = if data.metric.is_gain(scale, 1.0) {
        -1.0
    } else {
        1.0
    };
    let text = estimate.map_or("–".to_owned(), |own| data.metric.change_text(scale, own));
    ChangeCell {
        shade: estimate.map_or(f64::NAN, |own| {
            (worse * MOST_SHADES * own / largest).round()
        }),
        is_framed: column.adjusted_p_value.is_some_and(|p| p <= 0.05),
        told: vec![
            ("", column.name.clone()),
            (
                "interaction",
                estimate.map_or("not estimable".to_owned(), |own| {
                    data.metric
                        .change_with_interval(scale, own, column.interval)
                }),
            ),
        ],
        text,
    }
}
