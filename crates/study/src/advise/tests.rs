//! The model of stacks without shrinkage is that of `study fit`.

use lapwing_model::{Level, Metric};
use lapwing_stats::optimise::{MeasuredRun, OrderedSurface, SurfaceFactor, SurfaceScales};

use crate::gather::treatments;
use crate::{
    FitOptions, ModelChoice, StudyData, StudyFactor, StudyFit, StudyInstance, StudyMetric,
};

/// Every stack of 3 × 2 × 2 versions twice, with arbitrary costs.
fn study() -> StudyData {
    let factor = |name: &str, versions: &[&str]| {
        let levels = versions.iter().map(|own| Level::Text((*own).to_owned()));
        StudyFactor::new(name.to_owned(), levels.collect())
    };
    let factors = vec![
        factor("numpy", &["1.24", "1.26", "2.0"]),
        factor("python", &["3.11", "3.12"]),
        factor("scipy", &["1.11", "1.13"]),
    ];
    let mut data = StudyData {
        suite: "s".to_owned(),
        benchmark: "b".to_owned(),
        metric: StudyMetric::new("elapsed", &Metric::lower("s")),
        treatments: treatments(&factors).expect("few"),
        factors,
        instances: Vec::new(),
        failed: Vec::new(),
        notes: Vec::new(),
    };
    for at in 0..24_usize {
        let levels = vec![at % 3, at / 3 % 2, at / 6 % 2];
        let text = format!(
            "numpy={} python={} scipy={}",
            ["1.24", "1.26", "2.0"][levels[0]],
            ["3.11", "3.12"][levels[1]],
            ["1.11", "1.13"][levels[2]]
        );
        data.instances.push(StudyInstance {
            set: data.named_set(&text).expect("a setting"),
            levels,
            cost: 1.0 + lapwing_stats::as_f64(at * 7919 % 101) / 100.0,
            iterations: 1,
            time: lapwing_stats::as_f64(at),
            session: 0,
        });
    }
    data
}

#[test]
fn effects_without_shrinkage_are_those_of_the_fit_of_all_pairs() {
    let data = study();
    let options = FitOptions {
        model: ModelChoice::Pairs,
        ..FitOptions::default()
    };
    let fit = StudyFit::new(&data, options).expect("fits");
    let factors: Vec<SurfaceFactor> = (data.factors.iter())
        .map(|own| SurfaceFactor::Ordered(own.levels.len()))
        .collect();
    let runs: Vec<MeasuredRun> = (data.instances.iter())
        .map(|own| (own.levels.clone(), own.cost.ln()))
        .collect();
    // Levels that are not alike, with variances far above that of the noise.
    let scales = SurfaceScales {
        main: vec![1e6; 3],
        pairs: 1.0,
        rest: 1e-9,
        noise: 1.0,
        correlation: 0.0,
    };
    let surface = OrderedSurface::with_scales(&factors, &runs, scales).expect("varies");
    let coefficient = |name: &str| {
        let own = fit.columns.iter().find(|own| own.name == name);
        own.and_then(|own| own.coefficient).expect(name)
    };
    let effect = |runs: &[(f64, &[usize])], name: &str| {
        let (own, other) = (surface.contrast(runs), coefficient(name));
        assert!(
            (own.mean - other.estimate).abs() < 1e-4,
            "{name}: {own:?} {other:?}"
        );
        // The same standard error, but for the estimate of the noise, which counts no degrees of freedom here.
        let freedom = lapwing_stats::as_f64(fit.fit.residual_freedom());
        let ratio = own.deviation / other.standard_error;
        assert!(
            (ratio - (freedom / 24.0).sqrt()).abs() < 1e-3,
            "{name}: {ratio}"
        );
    };
    effect(&[(1.0, &[2, 0, 0]), (-1.0, &[0, 0, 0])], "numpy=2.0");
    effect(&[(1.0, &[0, 1, 0]), (-1.0, &[0, 0, 0])], "python=3.12");
    effect(
        &[
            (1.0, &[1, 0, 1]),
            (-1.0, &[0, 0, 1]),
            (-1.0, &[1, 0, 0]),
            (1.0, &[0, 0, 0]),
        ],
        "numpy=1.26:scipy=1.13",
    );
}
