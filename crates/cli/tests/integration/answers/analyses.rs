//! Answers of analyses.

use std::fs;

use tempfile::TempDir;

use super::Asked;
use crate::{burn_in_fixture, compare, nights_fixture, noise_fixture};

fn nights() -> TempDir {
    let slow = |night: u32| Some(if night < 24 { 1.0 } else { 1.2 });
    let newest = |night: u32| Some(if night < 39 { 1.0 } else { 1.5 });
    let gone = |night: u32| (night < 30).then_some(1.0);
    nights_fixture::history(
        40,
        &[
            ("slower", slow),
            ("newest", newest),
            ("gone", gone),
            ("quiet", nights_fixture::QUIET),
            ("calm", nights_fixture::QUIET),
        ],
    )
}

/// Two versions, and the burn-in for another tool's method.
fn versions() -> TempDir {
    let folder = compare::two_versions_imported();
    let starts = r#"{"test_join": 1, "test_read": 1, "test_sort": 1, "test_noisy": 1}"#;
    fs::write(folder.path().join("starts.json"), starts).unwrap();
    folder
}

pub const ASKED: &[Asked] = &[
    Asked {
        folder: versions,
        commands: &[
            ("compare", "compare version:2026.8 version:2026.9"),
            (
                "compare_full",
                "compare version:2026.8 version:2026.9 --full --audit",
            ),
            (
                "compare_hail",
                "compare version:2026.8 version:2026.9 --compat hail --clean burn_in_file=starts.json",
            ),
            ("compare_halves", "compare --split halves version:2026.8"),
            (
                "compare_each",
                "compare version:2026.8 version:2026.9 --each-baseline",
            ),
            (
                "compare_fieller",
                "compare version:2026.8 version:2026.9 --method fieller",
            ),
            (
                "compare_one",
                "compare version:2026.8 version:2026.9 -b test_sort",
            ),
            (
                "compare_none",
                "compare version:2026.8 version:2026.9 --metric peak_memory",
            ),
        ],
    },
    Asked {
        folder: noise_fixture::filled,
        commands: &[
            ("variability", "variability"),
            ("variability_hosts", "variability --by-host"),
            ("variability_audit", "variability --audit"),
            ("variability_none", "variability -b broken"),
            ("mds", "mds --grid slowdowns=1"),
            (
                "mds_one",
                "mds --benchmark sort --grid instances=5,9 --grid slowdowns=1",
            ),
            (
                "mds_formula",
                "mds --closed-form --grid instances=5,9 --grid iterations=5",
            ),
            (
                "mds_wide",
                "mds --wide --benchmark sort --grid instances=3,5 --grid iterations=2,5",
            ),
            ("mds_none", "mds -b broken"),
            (
                "mds_full",
                "mds --full --grid instances=5 --grid slowdowns=1 --benchmark sort",
            ),
            ("plan", "plan"),
            ("plan_two", "plan --slowdown 2%,10% --budget 1h --price 2"),
            ("plan_none", "plan -b broken"),
        ],
    },
    Asked {
        folder: burn_in_fixture::filled,
        commands: &[
            ("burn_in", "burn-in"),
            ("burn_in_cost", "burn-in --max-cost 2s"),
            ("burn_in_none", "burn-in --metric peak_memory"),
        ],
    },
    Asked {
        folder: nights,
        commands: &[
            ("detect", "detect"),
            ("detect_full", "detect --full"),
            ("detect_none", "detect -b quiet"),
            ("detect_nothing", "detect -b nothing"),
            ("detect_newest", "detect -b newest"),
            ("detect_coiled", "detect --compat coiled"),
        ],
    },
];
