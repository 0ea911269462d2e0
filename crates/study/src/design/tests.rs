use super::*;

fn treatment(name: &str) -> PlannedFactor {
    PlannedFactor {
        name: name.to_owned(),
        levels: vec![Level::Bool(false), Level::Bool(true)],
        requires: Vec::new(),
        excludes: Vec::new(),
        tags: Vec::new(),
        nice: None,
        definition: "sha256:0".to_owned(),
    }
}

pub(crate) fn treatments(names: &str) -> Vec<PlannedFactor> {
    names.split(' ').map(treatment).collect()
}

/// Six factors: `b` needs `a`, `c` excludes `d`, and `threads` has three levels.
fn constrained() -> Vec<PlannedFactor> {
    let mut factors = treatments("a b c d e threads");
    factors[1].requires.push("a".to_owned());
    factors[2].excludes.push("d".to_owned());
    factors[5].levels = [1, 2, 4].map(Level::Integer).to_vec();
    factors
}

fn designed(
    factors: Vec<PlannedFactor>,
    request: DesignRequest,
) -> Result<StudyDesign, StudyDesignError> {
    let request = DesignRequest {
        seed: 7,
        replicates: 2,
        ..request
    };
    StudyDesign::new(("suite", "lapwing.toml"), factors, &request)
}

fn of_kind(kind: DesignKind) -> DesignRequest {
    DesignRequest {
        kind: Some(kind),
        ..DesignRequest::default()
    }
}

#[test]
fn the_usual_design_is_the_smallest_fraction_that_estimates_the_model() {
    let pairs = designed(treatments("a b c d e"), DesignRequest::default()).expect("exists");
    assert_eq!(
        (pairs.kind, pairs.configurations.len(), pairs.resolution),
        (DesignKind::Fractional, 16, Some(5))
    );
    assert_eq!(pairs.configurations[0].name, BASE);
    assert!((pairs.d_efficiency - 100.0).abs() < 1e-9);
    let main = DesignRequest {
        model: StudyModel::Main,
        ..DesignRequest::default()
    };
    let main = designed(treatments("a b c d e f g"), main).expect("exists");
    assert_eq!((main.configurations.len(), main.resolution), (16, Some(4)));
    assert!(
        main.aliases
            .iter()
            .all(|group| group.iter().all(|it| it.contains(':')))
    );
    let few = DesignRequest {
        runs: Some(8),
        ..DesignRequest::default()
    };
    let few = designed(treatments("a b c d e"), few).expect("exists");
    let first: Vec<String> = few.aliases.iter().map(|group| group.join(" = ")).collect();
    assert_eq!((few.resolution, few.configurations.len()), (Some(3), 8));
    assert!(first[0].starts_with("a = "), "{first:?}");
}

#[test]
fn a_number_of_runs_without_a_known_fraction_is_an_optimal_design() {
    // As a budget asks for where instances are short.
    let request = |resolution| DesignRequest {
        runs: Some(1024),
        model: StudyModel::Main,
        resolution,
        ..DesignRequest::default()
    };
    let factors = || treatments("a b c d e f g h i j k l m n o p q r");
    let design = designed(factors(), request(None)).expect("exists");
    assert_eq!(
        (design.kind, design.configurations.len()),
        (DesignKind::Optimal, 1024)
    );
    let refused = designed(factors(), request(Some(5)));
    assert!(matches!(refused, Err(StudyDesignError::TooFew { .. })));
}

#[test]
fn every_kind_respects_requirements_and_exclusions_or_refuses() {
    use DesignKind::*;
    let space = factor::space(&constrained(), vec![2, 2, 2, 2, 2, 3]).expect("levels exist");
    let two_levels = &mut constrained();
    two_levels[5] = treatment("f");
    for kind in [Fractional, PlackettBurman] {
        let refused = designed(two_levels.clone(), of_kind(kind));
        assert!(
            matches!(refused, Err(StudyDesignError::Constrained { .. })),
            "{kind:?}"
        );
        let refused = designed(constrained(), of_kind(kind));
        assert!(
            matches!(refused, Err(StudyDesignError::Levels { levels: 3, .. })),
            "{kind:?}"
        );
    }
    let mut sizes = Vec::new();
    for kind in [Full, Optimal, Covering, Random, OneAtATime, Walks] {
        let design = designed(constrained(), of_kind(kind)).expect("possible");
        let runs = design.runs().expect("valid");
        assert!(runs.iter().all(|run| space.is_feasible(run)), "{kind:?}");
        assert_eq!(runs[0], [0; 6], "{kind:?} begins with the base");
        let mut unique = runs.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), runs.len(), "{kind:?}");
        for (at, factor) in design.factors.iter().enumerate() {
            for level in 0..factor.levels.len() {
                assert!(
                    runs.iter().any(|run| run[at] == level),
                    "{kind:?} lacks {}",
                    factor.level_name(level)
                );
            }
        }
        sizes.push((kind, runs.len()));
    }
    // 3 of 4 combinations of (a, b), 3 of (c, d), times 2 × 3.
    assert_eq!(sizes[0], (Full, 54));
    // The base, eight levels, and `a` is measured anyway.
    assert_eq!(sizes[4], (OneAtATime, 8));
}

#[test]
fn a_design_says_which_analyses_it_supports() {
    let supports = |kind| {
        designed(treatments("a b c d"), of_kind(kind))
            .expect("possible")
            .supports
    };
    assert_eq!(
        supports(DesignKind::Full),
        [
            "deltas",
            "means",
            "scatter",
            "colour",
            "fit (main effects and pairs)",
            "paths (measured)",
            "pca"
        ]
    );
    assert_eq!(
        supports(DesignKind::OneAtATime),
        ["deltas", "means", "colour", "fit (main effects)"]
    );
    assert_eq!(supports(DesignKind::PlackettBurman), ["fit (main effects)"]);
}

#[test]
fn power_of_a_fraction_is_that_of_its_standard_errors() {
    let design = designed(treatments("a b c d e"), DesignRequest::default()).expect("exists");
    let runs = design.runs().expect("valid");
    let power = StudyPower::new(&design.factors, &runs, 2, 0.02).expect("estimable");
    let error = 2.0 * 0.02 / 32.0_f64.sqrt();
    let effect = lapwing_stats::design::minimal_detectable_effect(
        error,
        16.0,
        lapwing_stats::Confidence::new(1.0 - 0.05 / 15.0).expect("a level"),
        0.8,
    );
    let effect = effect.expect("possible");
    assert!((power.main - effect.exp_m1()).abs() < 1e-9);
    assert!((power.pair.expect("resolution V") - (2.0 * effect).exp_m1()).abs() < 1e-9);
    // Without replicates what is left beside the found effects tells the noise, with fewer runs.
    let once = StudyPower::new(&design.factors, &runs, 1, 0.02).and_then(|it| it.pair);
    assert!(once.expect("resolution V") > power.pair.expect("resolution V"));
}

#[test]
fn few_runs_estimate_main_effects_and_say_so() {
    let request = DesignRequest {
        runs: Some(12),
        ..of_kind(DesignKind::Optimal)
    };
    let design = designed(constrained(), request).expect("possible");
    assert_eq!(design.configurations.len(), 12);
    assert!(
        design.notes[0]
            .text
            .starts_with("12 configurations cannot estimate all pairs")
    );
    assert!(
        design.supports.contains(&"fit (main effects)".to_owned()),
        "{:?}",
        design.supports
    );
}

#[test]
fn a_design_is_completed_by_further_configurations() {
    let first =
        designed(treatments("a b c d e"), of_kind(DesignKind::OneAtATime)).expect("possible");
    let request = DesignRequest {
        runs: Some(16),
        existing: first.runs().expect("valid"),
        ..DesignRequest::default()
    };
    let more = designed(treatments("a b c d e"), request.clone()).expect("possible");
    let runs = more.runs().expect("valid");
    assert_eq!((more.kind, runs.len()), (DesignKind::Optimal, 16));
    assert!(runs.iter().all(|run| !request.existing.contains(run)));
    assert!(
        more.supports
            .contains(&"fit (main effects and pairs)".to_owned())
    );
}

#[test]
fn files_survive_a_round_trip_and_newer_ones_are_refused() {
    let design = designed(constrained(), DesignRequest::default()).expect("possible");
    let text = design.write().expect("written");
    assert_eq!(StudyDesign::read(&text).expect("read"), design);
    let newer = text.replace("\"lapwing_design\": 1", "\"lapwing_design\": 2");
    let refused = StudyDesign::read(&newer).expect_err("newer").to_string();
    assert_eq!(
        refused,
        "this study design has version 2, and the newest that is known is 1"
    );
    let wrong = text.replacen("\"threads\": 4", "\"threads\": 3", 1);
    let refused = StudyDesign::read(&wrong).expect_err("wrong").to_string();
    assert!(
        refused.ends_with("has no valid level of `threads`"),
        "{refused}"
    );
}

#[test]
fn what_takes_no_part_cannot_be_required() {
    let mut factors = treatments("a b");
    factors[0].requires.push("z".to_owned());
    let refused = designed(factors, DesignRequest::default()).expect_err("impossible");
    assert_eq!(
        refused.to_string(),
        "`a` requires `z`, which takes no part in the study"
    );
}
