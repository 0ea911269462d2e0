//! Answers about studies, traces and stacks.

use std::fs;

use tempfile::TempDir;

use super::Asked;
use crate::{advise, study_fixture};

fn studied() -> TempDir {
    let folder = study_fixture::studied(5, 0.02);
    let suite = "suite = 's'\n[benchmark.b]\ncommand = 'true'\n[factor.a]\nlevels = [1, 2]\napply.arguments = ['{level}']\n\
                 [factor.c]\nlevels = [1, 2]\napply.env = { C = '{level}' }\n";
    fs::write(folder.path().join("lapwing.toml"), suite).unwrap();
    folder
}

/// A folder with a trace of a run and a changed copy.
fn traced() -> TempDir {
    let folder = TempDir::new().unwrap();
    let fixture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/fixtures/earthkit-0.19/trace_2x1.log"
    );
    fs::copy(fixture, folder.path().join("run.log")).unwrap();
    folder
}

pub const ASKED: &[Asked] = &[
    Asked {
        folder: studied,
        commands: &[
            ("study_findings", "study findings"),
            ("study_effects", "study effects"),
            ("study_means", "study effects --show means"),
            ("study_deltas", "study effects --show deltas"),
            ("study_paths", "study effects --show paths"),
            ("study_pca", "study effects --show pca"),
            ("study_fit", "study fit"),
            ("study_stability", "study stability"),
            ("study_design", "study design"),
        ],
    },
    Asked {
        folder: traced,
        commands: &[
            ("trace", "trace show --file run.log"),
            ("trace_tasks", "trace show tasks --file run.log"),
            ("trace_transfers", "trace show transfers --file run.log"),
            ("trace_controller", "trace show controller --file run.log"),
            ("trace_profile", "trace show profile --file run.log"),
            ("trace_lint", "trace show lint --file run.log"),
            ("trace_compare", "trace compare run.log run.log"),
            ("import_trace", "import run.log"),
        ],
    },
    Asked {
        folder: advise::measured,
        commands: &[
            ("advise", "advise"),
            ("advise_explore", "advise --explore 4"),
        ],
    },
];
