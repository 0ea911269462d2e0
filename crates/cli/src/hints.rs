//! What to do next, for errors that come from below.

use std::error::Error;

use lapwing_core::model::RecordKind;
use lapwing_core::record::StoreError;
use lapwing_core::record::export::ExportError;
use lapwing_core::record::import::{Foreign, ImportError};
use lapwing_core::record::sharing::SharingError;
use lapwing_core::show::exchange::ExchangeError;
use lapwing_core::text::grouped;

use crate::error::CliError;

/// Adds what to do next and what became of the data, where the error's kind tells.
pub fn with_hint(error: CliError) -> CliError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error.cause.as_ref());
    let (mut hint, mut consequence) = (None, None);
    while let Some(current) = cause {
        if let Some(store) = current.downcast_ref::<StoreError>() {
            hint = hint.or_else(|| store_hint(store));
        }
        if let Some(import) = current.downcast_ref::<ImportError>() {
            consequence = Some("nothing of this file was imported".to_owned());
            hint = hint.or_else(|| import_hint(import));
        }
        if let Some(export) = current.downcast_ref::<ExportError>() {
            hint = hint.or_else(|| export_hint(export));
        }
        if let Some(exchange) = current.downcast_ref::<ExchangeError>() {
            hint = hint.or_else(|| exchange_hint(exchange));
        }
        if let Some(sharing) = current.downcast_ref::<SharingError>() {
            hint = hint.or_else(|| sharing_hint(sharing));
        }
        cause = current.source();
    }
    CliError {
        hint: error.hint.or(hint),
        consequence: error.consequence.or(consequence),
        ..error
    }
}

fn export_hint(error: &ExportError) -> Option<String> {
    match error {
        ExportError::Store(store) => store_hint(store),
        ExportError::MetricOfRecord => {
            Some("--to csv and --to json can be limited to a metric".to_owned())
        }
        ExportError::Output(_) | ExportError::Csv(_) => None,
    }
}

fn exchange_hint(error: &ExchangeError) -> Option<String> {
    /// Runs to list.
    const SHOWN: usize = 8;
    match error {
        ExchangeError::SeveralRuns { runs } => {
            let mut text = String::from("choose one with --only-run, --session or --variant:");
            for (id, what) in runs.iter().take(SHOWN) {
                text.push_str(&format!("\n    --only-run {id}   {what}"));
            }
            if runs.len() > SHOWN {
                let more = (runs.len() - SHOWN) as u64;
                text.push_str(&format!("\n    and {} more", grouped(more)));
            }
            Some(text)
        }
        ExchangeError::Store(store) => store_hint(store),
        ExchangeError::Nothing => Some("`lapwing list` shows what there is".to_owned()),
        ExchangeError::WithoutTime { others, .. } if !others.is_empty() => Some(format!(
            "choose one of the times that there are with --metric: {}",
            others.join(", ")
        )),
        ExchangeError::NoTime { .. } | ExchangeError::WithoutTime { .. } => {
            Some("--to bmf and --to github-action hold any metric".to_owned())
        }
        ExchangeError::OnlySummaries { .. } => {
            Some("--to bmf, github-action, csv and json hold summaries".to_owned())
        }
        ExchangeError::OtherDirection { metrics } => Some(format!(
            "ask for it by itself with --metric: {}",
            metrics.join(", ")
        )),
        ExchangeError::NothingCounts => {
            Some("--to csv and --to json hold burn-in and failures, too".to_owned())
        }
        ExchangeError::Output(_) => None,
    }
}

fn store_hint(error: &StoreError) -> Option<String> {
    let hint = match error {
        StoreError::Missing { .. } => {
            "measure with `lapwing run -- COMMAND`, or take in results with `lapwing import FILE`"
        }
        StoreError::Newer { .. } => "upgrade lapwing, or choose another store with --store PATH",
        StoreError::Older { .. } => "copy it to where it can be written, and open it there",
        StoreError::Directory { .. } => "name the file in it, as in --store DIR/lapwing.db",
        StoreError::NotAStore { .. } => "choose another file with --store PATH",
        StoreError::ReadOnly { .. } | StoreError::Folder { .. } => {
            "choose a place that you may write to with --store PATH"
        }
        StoreError::Full { .. } => "make room on the disk, then do it again",
        StoreError::Vanished { .. } => "do it again; a new store is made",
        StoreError::Busy { .. } => "wait for the other lapwing to finish, then do it again",
        StoreError::Damaged { .. } => {
            "`lapwing db check` says more; `lapwing export --to record` saves what can be read"
        }
        StoreError::NoMatch { what, .. } => return list_hint(what),
        StoreError::Ambiguous { .. } => "name one of them by its id",
        StoreError::ImportedOtherwise { .. } => {
            "import it as before, or remove it first with `lapwing db purge --session NAME`"
        }
        StoreError::Conflict {
            kind: RecordKind::Instance,
            ..
        } => {
            "the two disagree about one measurement; if they come from two copies of one database, \
             import both copies into one store instead of merging, else find out which of them was changed"
        }
        StoreError::Conflict { .. } => {
            "the two disagree about one measurement; find out which of them was changed"
        }
        StoreError::NoParent { .. } => "take in first what holds that one",
        StoreError::Sqlite { .. } | StoreError::NotFinite { .. } => return None,
    };
    Some(hint.to_owned())
}

fn sharing_hint(error: &SharingError) -> Option<String> {
    let hint = match error {
        SharingError::Nothing { .. } => "begin one with `lapwing db push URL`",
        SharingError::Vanished { .. } => {
            "if it should be there, mount it or bring it back; to begin another one, --begin-anew"
        }
        SharingError::Replaced { .. } => "to share with this one from now on, --begin-anew",
        SharingError::Foreign { .. } => "choose another folder or prefix",
        SharingError::Newer { .. } => "upgrade lapwing",
        SharingError::Overwrites { .. } => {
            "share through a folder, or a server or store that honours `If-None-Match: *`"
        }
        SharingError::Gone { .. } | SharingError::Changed { .. } => {
            "bring it back from a copy; or --begin-anew, in every store that is refused: each has \
             all that it took in"
        }
        SharingError::Gap { .. } => {
            "bring it back from a copy; or begin anew elsewhere: every store has all that it took in"
        }
        SharingError::Damaged { .. }
        | SharingError::Empty { .. }
        | SharingError::Line { .. }
        | SharingError::Excessive { .. } => {
            "nothing of it was taken in; bring it back from a copy, or begin anew elsewhere"
        }
        SharingError::Record { source, .. }
            if matches!(
                **source,
                StoreError::NoParent { .. } | StoreError::NotFinite { .. }
            ) =>
        {
            "nothing of it was taken in; no lapwing writes such a segment, so bring it back from a \
             copy, or begin anew elsewhere"
        }
        SharingError::Record { source, .. } => {
            return store_hint(source).map(|hint| format!("nothing of it was taken in; {hint}"));
        }
        SharingError::Store(store) => return store_hint(store),
        SharingError::Remote { .. } | SharingError::Compress(_) => return None,
    };
    Some(hint.to_owned())
}

fn list_hint(what: &str) -> Option<String> {
    let list = match what {
        "benchmark" | "tag" | "suite" => "benchmarks",
        "session" => "sessions",
        "run" | "version" | "variant" => "runs",
        "metric" => "metrics",
        _other => return None,
    };
    Some(format!("`lapwing list {list}` shows what there is"))
}

fn foreign_hint(found: Foreign) -> Option<&'static str> {
    match found {
        Foreign::Utf16 => Some("convert it to UTF-8, as with iconv"),
        Foreign::Zip | Foreign::Tar => Some("unpack it, and import the files in it"),
        Foreign::Xz | Foreign::Bzip2 => Some("decompress it first; gzip and zstd are read"),
        Foreign::GzipWithin | Foreign::ZstdWithin => {
            Some("it was compressed twice: decompress it once")
        }
        Foreign::Store => Some("`lapwing db merge FILE` takes in what another store holds"),
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
                "keep the one good line".to_owned()
            } else if *more == 0 {
                format!("keep the other {}", grouped(*good))
            } else {
                format!("keep the {} good ones", grouped(*good))
            };
            Some(format!("{line}, or {verb} with --keep-going"))
        }
        ImportError::Encoding { found, .. } => foreign_hint(*found).map(str::to_owned),
        ImportError::Compressed { .. } => Some("fetch the file again".to_owned()),
        ImportError::Unknown { .. } => {
            Some("if it is one of them all the same, say which with --from".to_owned())
        }
        ImportError::EmptyDirectory { other_endings, .. } if other_endings.files() > 0 => {
            Some(format!(
                "to import files with other endings ({}), name them or use a pattern",
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
