//! The integration tests of this crate, in one program: linking one is quicker than forty.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

mod advise;
mod answers;
mod audit;
mod bisect;
mod bisect_jobs;
mod burn_in;
mod burn_in_files;
mod burn_in_fixture;
mod burn_in_review;
mod cli_reference;
mod closed_pipe;
mod compare;
mod compare_families;
mod compare_settings;
mod compare_steady;
mod compare_views;
mod conditions;
mod confinement;
mod detect;
mod detect_history;
mod detect_newest;
mod detect_rules;
mod detect_told;
mod doctor;
mod documented_keys;
mod duet;
mod early_stop;
mod epochs;
mod export;
mod first_minutes;
mod foreign_sessions;
mod history;
mod hostile_folders;
mod import;
mod indicator;
mod init;
mod isolation;
mod judge;
mod level_repository;
mod local_executor;
mod mds;
mod mds_doubt;
mod mds_plot;
mod merge_at_once;
mod nights_fixture;
mod noise_fixture;
mod not_judged;
mod plan;
mod plan_doubts;
mod plan_review;
mod private;
mod program;
mod records_fixture;
mod reference_coiled;
mod reference_hail;
mod reference_mds;
mod reference_plan;
mod reference_study;
mod report;
mod revisions;
mod run;
mod run_commits;
mod run_plan;
mod run_pytest;
mod schema;
mod share;
mod share_members;
mod short_answers;
mod simulation_jobs;
mod stack;
mod store;
mod study;
mod study_design;
mod study_fixture;
mod study_optimise;
mod study_stability;
mod trace;
mod units;
mod variability;
mod variants;
