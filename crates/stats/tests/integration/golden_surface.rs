//! Compares Gaussian processes over ordered levels with scikit-learn (`tests/golden_surface.py`).

use lapwing_stats::optimise::{MeasuredRun, OrderedSurface, SurfaceFactor, SurfaceScales};
use serde_json::Value;

use super::golden_factors::{cases, numbers};

fn runs(value: &Value) -> Vec<Vec<usize>> {
    let run = |own: &Value| -> Vec<usize> {
        let levels = own.as_array().unwrap().iter();
        levels
            .map(|it| usize::try_from(it.as_u64().unwrap()).unwrap())
            .collect()
    };
    value.as_array().unwrap().iter().map(run).collect()
}

fn close(one: f64, other: f64) {
    assert!(
        (one - other).abs() < 1e-8 * (1.0 + other.abs()),
        "{one} is not {other}"
    );
}

#[test]
fn posteriors_are_those_of_scikit_learn() {
    let all = cases("ordered_surface.json");
    for case in all.as_array().unwrap() {
        let levels = &runs(&Value::Array(vec![case["levels"].clone()]))[0];
        let factors: Vec<SurfaceFactor> = (levels.iter().zip(case["ordered"].as_array().unwrap()))
            .map(|(count, ordered)| match ordered.as_bool().unwrap() {
                true => SurfaceFactor::Ordered(*count),
                false => SurfaceFactor::Block(*count),
            })
            .collect();
        let of = |name: &str| case["scales"][name].as_f64().unwrap();
        let scales = SurfaceScales {
            main: numbers(&case["scales"]["main"]),
            pairs: of("pairs"),
            rest: of("rest"),
            noise: of("noise"),
            correlation: of("correlation"),
        };
        let measured: Vec<MeasuredRun> = (runs(&case["runs"])
            .into_iter()
            .zip(numbers(&case["responses"])))
        .collect();
        let surface = OrderedSurface::with_scales(&factors, &measured, scales).unwrap();
        close(surface.scales().1, case["signal"].as_f64().unwrap());
        let asked = runs(&case["asked"]);
        for (at, run) in asked.iter().enumerate() {
            let own = surface.predict(run);
            close(own.mean, numbers(&case["mean"])[at]);
            close(own.deviation, numbers(&case["deviation"])[at]);
            let gap = surface.contrast(&[(1.0, &asked[0]), (-1.0, run)]);
            close(
                gap.mean,
                numbers(&case["mean"])[0] - numbers(&case["mean"])[at],
            );
            if at > 0 {
                close(gap.deviation, numbers(&case["gap_deviation"])[at]);
            }
        }
    }
}
