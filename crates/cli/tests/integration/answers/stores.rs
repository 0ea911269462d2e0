//! Answers about stores, sessions and the program itself.

use super::Asked;
use crate::compare;

pub const ASKED: &[Asked] = &[Asked {
    folder: compare::two_versions_imported,
    commands: &[
        ("show", "show"),
        ("list", "list"),
        ("list_sessions", "list sessions"),
        ("list_runs", "list runs"),
        ("list_metrics", "list metrics"),
        ("db_info", "db info"),
        ("db_annotations", "db annotations"),
        ("db_check", "db check"),
        ("error", "compare version:2026.8 version:2027"),
        ("usage", "compare --confidense 1"),
    ],
}];
