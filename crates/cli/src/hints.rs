//! Hints for errors of the library: next steps.

use std::error::Error;
use std::path::Path;

use lapwing_analyse::sample::{KEYS, KnownSides, SideError};
use lapwing_formats::{Foreign, ImportError};
use lapwing_model::RecordKind;
use lapwing_model::text::grouped;
use lapwing_record::export::ExportError;
use lapwing_record::sharing::SharingError;
use lapwing_record::{Store, StoreError};
use lapwing_show::exchange::ExchangeError;

use crate::error::CliError;

/// Adds the hint and the consequence that belong to the kind of an error.
pub fn with_hint(error: CliError) -> CliError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error.cause.as_ref());
    let (mut hint, mut consequence) = (None, None);
    while let Some(current) = cause {
        hint = hint.or_else(|| hint_of(current));
        if current.is::<ImportError>() {
            consequence = Some("nothing was imported from this file".to_owned());
        }
        cause = current.source();
    }
    CliError {
        hint: error.hint.or(hint),
        consequence: error.consequence.or(consequence),
        ..error
    }
}

fn hint_of(error: &(dyn Error + 'static)) -> Option<String> {
    let kinds: [fn(&(dyn Error + 'static)) -> Option<String>; 6] = [
        |error| store_hint(error.downcast_ref()?),
        |error| side_hint(error.downcast_ref()?),
        |error| import_hint(error.downcast_ref()?),
        |error| export_hint(error.downcast_ref()?),
        |error| exchange_hint(error.downcast_ref()?),
        |error| sharing_hint(error.downcast_ref()?),
    ];
    kinds.into_iter().find_map(|hint| hint(error))
}

fn side_hint(error: &SideError) -> Option<String> {
    match error {
        SideError::Nothing { known, .. }
        | SideError::NoRun { known, .. }
        | SideError::TooShort { known, .. } => Some(known_sides_text(known)),
        SideError::NoRunPasses { .. } => Some("`lapwing list runs` shows what there is".to_owned()),
        SideError::NotMeasured { nearest, .. } => Some(match nearest {
            Some(commit) => {
                let commit = commit.get(..10).unwrap_or(commit);
                format!("its nearest measured ancestor is commit:{commit}")
            }
            None => "`lapwing list runs` shows what is measured".to_owned(),
        }),
        SideError::SeveralKinds { text, kinds } => {
            let written: Vec<String> = kinds
                .iter()
                .map(|kind| format!("`{}:{text}`", kind.name()))
                .collect();
            Some(format!("write {}", written.join(" or ")))
        }
        SideError::SeveralRuns { .. } => Some("write more of it".to_owned()),
        SideError::NothingPasses { known, .. } => Some(
            known
                .text()
                .unwrap_or_else(|| "remove the filter".to_owned()),
        ),
        SideError::Overlap { .. } => Some(
            "a comparison takes different sides; `--split halves` checks one against itself"
                .to_owned(),
        ),
        SideError::Store(store) => store_hint(store),
    }
}

/// Returns the sides in the store.
pub fn known_sides_text(known: &KnownSides) -> String {
    match known.text() {
        Some(known) => format!("{known}; `lapwing list runs` shows all"),
        None => "`lapwing list runs` shows what there is".to_owned(),
    }
}

fn export_hint(error: &ExportError) -> Option<String> {
    match error {
        ExportError::Store(store) => store_hint(store),
        ExportError::MetricOfRecord => {
            Some("use --to csv or --to json to export a single metric".to_owned())
        }
        ExportError::Output(_) | ExportError::Csv(_) => None,
    }
}

fn exchange_hint(error: &ExchangeError) -> Option<String> {
    /// Runs to list.
    const SHOWN: usize = 8;
    match error {
        ExchangeError::SeveralRuns { runs } => {
            let mut text = String::from("choose one with --where:");
            for (id, what) in runs.iter().take(SHOWN) {
                text.push_str(&format!("\n    --where run={id}   {what}"));
            }
            if runs.len() > SHOWN {
                let more = (runs.len() - SHOWN) as u64;
                text.push_str(&format!("\n    and {} more", grouped(more)));
            }
            Some(text)
        }
        ExchangeError::Store(store) => store_hint(store),
        ExchangeError::Nothing => Some("`lapwing list` shows the contents of the store".to_owned()),
        ExchangeError::WithoutTime { others, .. } if !others.is_empty() => Some(format!(
            "choose one of these times with --metric: {}",
            others.join(", ")
        )),
        ExchangeError::NoTime { .. } | ExchangeError::WithoutTime { .. } => {
            Some("--to bmf and --to github-action accept any metric".to_owned())
        }
        ExchangeError::OnlySummaries { .. } => {
            Some("--to bmf, github-action, csv and json accept summaries".to_owned())
        }
        ExchangeError::OtherDirection { metrics } => Some(format!(
            "export it separately with --metric: {}",
            metrics.join(", ")
        )),
        ExchangeError::NothingCounts => {
            Some("--to csv and --to json also contain burn-in and failures".to_owned())
        }
        ExchangeError::Output(_) => None,
    }
}

fn store_hint(error: &StoreError) -> Option<String> {
    let hint = match error {
        StoreError::Missing { .. } => {
            "measure with `lapwing run -- COMMAND`, or import results with `lapwing import FILE`"
        }
        StoreError::Newer { .. } => "upgrade lapwing, or choose another store with --store PATH",
        StoreError::Older { .. } => "copy it to a writable folder, and open it there",
        StoreError::Directory { .. } => {
            "give the path of a file in it, as in --store DIR/lapwing.db"
        }
        StoreError::NotAStore { .. } => "choose another file with --store PATH",
        StoreError::ReadOnly { .. } | StoreError::Folder { .. } => {
            "choose a writable path with --store PATH"
        }
        StoreError::Full { .. } => "free some disk space, then try again",
        StoreError::Vanished { .. } => "try again; a new store will be created",
        StoreError::Busy { .. } => "wait for the other lapwing process to finish, then try again",
        StoreError::Damaged { path, what } => {
            // Whoever wants to write into it next is told.
            Store::note_damage(path, what);
            return Some(damaged_hint(path));
        }
        StoreError::KnownDamage { path, .. } => {
            return Some(format!(
                "{}; after restoring the file from a backup, run `lapwing db check`",
                damaged_hint(path)
            ));
        }
        StoreError::NoMatch { what, .. } => return list_hint(what),
        StoreError::Ambiguous { .. } => "use the id of one of them",
        StoreError::Conflict {
            kind: RecordKind::Instance,
            ..
        } => {
            "the two stores disagree about a measurement; if they come from two copies of one database, \
             import both copies into one store instead of merging, otherwise find out which one was changed"
        }
        StoreError::Conflict { .. } => {
            "the two stores disagree about a measurement; find out which one was changed"
        }
        StoreError::NoParent { .. } => "import or merge the source that contains it first",
        StoreError::Sqlite { .. } | StoreError::Unreadable { .. } | StoreError::Refused { .. } => {
            return None;
        }
    };
    Some(hint.to_owned())
}

/// Returns how to save the readable records of a damaged store.
pub fn damaged_hint(store: &Path) -> String {
    let new = store.with_extension("rescued.db");
    format!(
        "save what can be read with `lapwing db rescue {} -o {}`",
        store.display(),
        new.display()
    )
}

fn sharing_hint(error: &SharingError) -> Option<String> {
    let hint = match error {
        SharingError::Nothing { .. } => "start one with `lapwing db push URL`",
        SharingError::Vanished { .. } => {
            "if it should exist, mount or restore it; to start a new one, use --begin-anew"
        }
        SharingError::Replaced { .. } => "to use this one from now on, add --begin-anew",
        SharingError::Foreign { .. } => "choose another folder or prefix",
        SharingError::Newer { .. } => "upgrade lapwing",
        SharingError::Overwrites { .. } => {
            "use a folder, or a server or object store that supports `If-None-Match: *`"
        }
        SharingError::Gone { .. } | SharingError::Changed { .. } => {
            "restore it from a backup; or use --begin-anew in every store that is refused: each store \
             still has all records that it pulled"
        }
        SharingError::Gap { .. } => {
            "restore it from a backup, or start a new history at another URL: every store still has all records that it pulled"
        }
        SharingError::Damaged { .. } | SharingError::Empty { .. } => {
            "nothing was read from it; restore it from a backup, or start a new history at another URL"
        }
        SharingError::Line { .. } => "nothing was read from it; upgrade lapwing",
        SharingError::Store(store) => return store_hint(store),
        SharingError::Remote { .. } | SharingError::Compress(_) => return None,
    };
    Some(hint.to_owned())
}

fn list_hint(what: &str) -> Option<String> {
    if what == "key or factor" {
        return Some(format!("the keys are {}", KEYS.join(", ")));
    }
    let list = match what {
        "benchmark" | "tag" | "suite" => "benchmarks",
        "session" => "sessions",
        "run" | "version" | "commit" | "branch" | "variant" | "level" => "runs",
        "metric" => "metrics",
        _other => return None,
    };
    Some(format!("`lapwing list {list}` lists them"))
}

fn foreign_hint(found: Foreign) -> Option<&'static str> {
    match found {
        Foreign::Utf16 => Some("convert it to UTF-8, for example with iconv"),
        Foreign::Zip | Foreign::Tar => Some("unpack it, and import the unpacked files"),
        Foreign::Xz | Foreign::Bzip2 => {
            Some("decompress it first; only gzip and zstd are read directly")
        }
        Foreign::GzipWithin | Foreign::ZstdWithin => {
            Some("it was compressed twice: decompress it once")
        }
        Foreign::Store => Some("`lapwing db merge FILE` copies the records of another store"),
        Foreign::Sqlite | Foreign::Binary => None,
    }
}

fn import_hint(error: &ImportError) -> Option<String> {
    match error {
        ImportError::Line { good: 0, .. } => None,
        ImportError::Line { good, more, .. } => {
            let line = if *more == 0 {
                "fix the line".to_owned()
            } else {
                format!("fix this line and {} more", grouped(*more))
            };
            let verb = if *good == 1 {
                "import the one valid line".to_owned()
            } else if *more == 0 {
                format!("import the other {}", grouped(*good))
            } else {
                format!("import the {} valid ones", grouped(*good))
            };
            Some(format!("{line}, or {verb} with --keep-going"))
        }
        ImportError::Encoding { found, .. } => foreign_hint(*found).map(str::to_owned),
        ImportError::ImportedOtherwise { .. } => Some(
            "import it with the same options as before, or delete it first with `lapwing db purge --where session=NAME`"
                .to_owned(),
        ),
        ImportError::Compressed { .. } => Some("download or copy the file again".to_owned()),
        ImportError::Unknown { .. } => {
            Some("if it is one of them, name the format with --from".to_owned())
        }
        ImportError::EmptyDirectory { other_endings, .. } if other_endings.files() > 0 => {
            Some(format!(
                "to import files with other extensions ({}), name them or use a pattern",
                other_endings.text()
            ))
        }
        ImportError::EmptyDirectory { .. }
        | ImportError::Read { .. }
        | ImportError::Empty { .. }
        | ImportError::NoResults { .. }
        | ImportError::NothingGood { .. }
        | ImportError::NothingFits { .. }
        | ImportError::Companion { .. }
        | ImportError::Document { .. }
        | ImportError::TooLong { .. }
        | ImportError::Database { .. } => None,
        ImportError::Store(store) => store_hint(store),
    }
}
