//! Answers about stores, sessions and the program itself.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::Asked;
use crate::compare;
use crate::level_repository::{git, git_at};
use crate::program::run;

fn empty() -> TempDir {
    TempDir::new().unwrap()
}

/// A folder with indicators that were measured.
fn measured_indicators() -> TempDir {
    let folder = scripts();
    let words = [
        "indicator",
        "run",
        "good",
        "-n",
        "3",
        "-i",
        "2",
        "--seed",
        "1",
    ];
    let done = run(folder.path(), &words);
    assert!(done.ends_with("exit 0"), "{done}");
    folder
}

fn scripts() -> TempDir {
    let folder = TempDir::new().unwrap();
    let good = r#"echo '{"name": "Copy", "framework": "cat", "@parameters": {"size": 8}, "@result": {"elapsed": 0.5},
        "overall_score": 2, "@metrics": {"elapsed": {"unit": "s", "better": "lower"}}}'"#;
    let bad =
        r#"echo ready; echo '{"component": "cat", "@parameters": {"x": 1}, "@result": {"x": 2}}'"#;
    for (name, text) in [("good", good), ("bad", bad)] {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

/// A folder with a store, an annotation, and files to import.
fn annotated() -> TempDir {
    let folder = compare::two_versions_imported();
    let path = folder.path();
    for words in [
        "db rename test_short test_brief --reason clearer --by me",
        "export --to record -o all.jsonl",
        "import all.jsonl --store other.db",
        "db push shared --store other.db",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let done = run(path, &words);
        assert!(done.ends_with("exit 0"), "{done}");
    }
    fs::create_dir(path.join("results")).unwrap();
    let bench = |name: &str| {
        format!("{{\"results\": [{{\"command\": \"{name}\", \"times\": [1.0, 1.1, 1.2]}}]}}")
    };
    fs::write(path.join("results/one.json"), bench("one")).unwrap();
    fs::write(path.join("results/two.json"), bench("two")).unwrap();
    fs::write(path.join("results/notes.txt"), "nothing to see").unwrap();
    folder
}

/// A repository whose program got slower, as it is and in the commits.
fn slower() -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    git(path, &["init", "--quiet", "--initial-branch=trunk"]);
    let program = "COUNT=$(git rev-parse --git-common-dir)/count\n\
                   n=$(cat \"$COUNT\" 2>/dev/null || echo 0); echo $((n + 1)) > \"$COUNT\"\n\
                   echo \"{\\\"cost\\\": $(( $(cat level) + n * 37 % 16 ))}\"\n";
    fs::write(path.join("program"), program).unwrap();
    for level in ["1000", "1000", "1000", "1500", "1500"] {
        fs::write(path.join("level"), level).unwrap();
        git(path, &["add", "."]);
        let date = "2026-01-01T00:00:00Z";
        let words = [
            "commit",
            "--quiet",
            "--allow-empty",
            "--date",
            date,
            "-m",
            level,
        ];
        git_at(Some(date), path, &words);
    }
    folder
}

pub const ASKED: &[Asked] = &[
    Asked {
        folder: compare::two_versions_imported,
        commands: &[
            ("show", "show"),
            ("list", "list"),
            ("list_none", "list -b nothing"),
            ("list_limited", "list --limit 1"),
            ("list_sessions", "list sessions"),
            ("list_runs", "list runs"),
            ("list_metrics", "list metrics"),
            ("indicator_list_none", "indicator list"),
            ("indicator_query_none", "indicator query"),
            ("db_info", "db info"),
            ("db_annotations_none", "db annotations"),
            ("db_check", "db check"),
            ("db_purge", "db purge --everything"),
            ("error", "compare version:2026.8 version:2027"),
            ("usage", "compare --confidense 1"),
        ],
    },
    Asked {
        folder: empty,
        commands: &[(
            "run_dry_run",
            "run --dry-run --seed 1 -n 2 -i 3 --burn-in 1 -- true",
        )],
    },
];

/// Commands that change something.
pub const CHANGING: &[Asked] = &[
    Asked {
        folder: annotated,
        commands: &[
            ("init", "init"),
            ("export", "export --to csv -o out.csv"),
            (
                "export_bmf",
                "export --to bmf -o out.json --where version=2026.8",
            ),
            ("report", "report"),
            (
                "report_compare",
                "report --compare version:2026.8 version:2026.9",
            ),
            ("import_again", "import all.jsonl"),
            ("import_new", "import all.jsonl --store new.db"),
            (
                "import_dry_run",
                "import all.jsonl --store new.db --dry-run",
            ),
            ("import_several", "import results"),
            (
                "import_refused",
                "import results/one.json results/notes.txt",
            ),
            ("db_merge", "db merge other.db --store new.db"),
            ("db_merge_several", "db merge other.db other.db"),
            (
                "db_rename",
                "db rename test_join test_sort --reason same --by me",
            ),
            (
                "db_rename_dry_run",
                "db rename test_join new --reason x --by me --dry-run",
            ),
            ("db_retire", "db retire test_join --reason wrong --by me"),
            ("db_restore", "db restore test_brief --by me"),
            ("db_purge_yes", "db purge --everything --yes"),
            ("db_rescue", "db rescue other.db -o saved.db"),
            ("triage", "triage mute test_join --reason noisy --by me"),
        ],
    },
    Asked {
        folder: scripts,
        commands: &[
            ("indicator_check", "indicator check good"),
            ("indicator_check_breach", "indicator check good bad"),
        ],
    },
];

/// Answers with times, ids and sizes that differ in each folder.
pub const OF_CHANCE: &[Asked] = &[
    Asked {
        folder: annotated,
        commands: &[("db_annotations", "db annotations"), ("doctor", "doctor")],
    },
    Asked {
        folder: measured_indicators,
        commands: &[
            ("indicator_list", "indicator list"),
            ("indicator_query", "indicator query"),
            ("indicator_unknown", "indicator query --metric nothing"),
        ],
    },
];

/// Commands whose answers have times or measurements that differ from call to call.
pub const DIFFERING: &[&str] = &["doctor", "db_restore", "db_push"];

/// Commands that measure, or change something, and whose answers depend on the machine or on chance.
pub const MEASURING: &[Asked] = &[
    Asked {
        folder: annotated,
        commands: &[
            ("self_man", "self man man"),
            ("db_push", "db push new"),
            ("db_push_dry_run", "db push new --dry-run"),
            ("db_pull_known", "db pull shared"),
            ("db_pull", "db pull shared --store new.db"),
            ("db_pull_dry_run", "db pull shared --store new.db --dry-run"),
        ],
    },
    Asked {
        folder: slower,
        commands: &[
            (
                "judge",
                "judge --baseline HEAD~4 --metric cost --metrics json -i 1 --burn-in 0 --name s --seed 1 -- sh program",
            ),
            (
                "judge_same",
                "judge --baseline HEAD~1 --metric cost --metrics json -i 1 --burn-in 0 --name s --seed 1 -- sh program",
            ),
            (
                "judge_undecided",
                "judge --baseline HEAD~1 --smallest-effect 0.1% -n 5 --metric cost --metrics json -i 1 --burn-in 0 --name s --seed 1 -- sh program",
            ),
            (
                "judge_broken",
                "judge --baseline HEAD~1 --metric cost --metrics json -i 1 --burn-in 0 --name s --seed 1 -- false",
            ),
            (
                "bisect",
                "bisect HEAD~4 HEAD --metric cost --metrics json -i 1 --burn-in 0 --name s --seed 1 -- sh program",
            ),
            (
                "bisect_no_difference",
                "bisect HEAD~4 HEAD~2 --metric cost --metrics json -i 1 --burn-in 0 --name s --seed 1 -- sh program",
            ),
        ],
    },
];
