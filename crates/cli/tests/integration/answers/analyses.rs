//! Answers of analyses.

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

pub const ASKED: &[Asked] = &[
    Asked {
        folder: compare::two_versions_imported,
        commands: &[
            ("compare", "compare version:2026.8 version:2026.9"),
            (
                "compare_full",
                "compare version:2026.8 version:2026.9 --full --audit",
            ),
            (
                "compare_hail",
                "compare version:2026.8 version:2026.9 --compat hail",
            ),
            ("compare_halves", "compare --split halves version:2026.8"),
        ],
    },
    Asked {
        folder: noise_fixture::filled,
        commands: &[
            ("variability", "variability"),
            ("variability_hosts", "variability --by-host"),
            ("mds", "mds"),
            ("mds_wide", "mds --wide --benchmark sort"),
            ("plan", "plan"),
        ],
    },
    Asked {
        folder: burn_in_fixture::filled,
        commands: &[
            ("burn_in", "burn-in"),
            ("burn_in_none", "burn-in -b nothing"),
        ],
    },
    Asked {
        folder: nights,
        commands: &[
            ("detect", "detect"),
            ("detect_full", "detect --full"),
            ("detect_none", "detect -b quiet"),
            ("detect_coiled", "detect --compat coiled"),
        ],
    },
];
