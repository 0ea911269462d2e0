//! `lapwing db`: looks after the store itself.

mod annotations;
mod rename;
mod restore;
mod retire;
mod said;
mod share;

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use lapwing_core::record::{Filter, Purged, Store};
use lapwing_core::text::{counted, grouped};

use self::share::Share;
use crate::error::{CliError, Exit};
use crate::options::{Context, Filters, Format};
use crate::store::{open_for_reading, open_for_writing};
use crate::table::{Align, Table};

/// Look after the store: what it holds, whether it is sound, joining, renaming, retiring, deleting
#[derive(Debug, Args)]
pub struct Db {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Say how large the store is and what it holds
    Info {
        /// The form of the answer
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
    /// Look for damage
    Check,
    /// Bring the store to the newest version (opening it does so too)
    Migrate,
    /// Take in everything that other stores hold; doing it twice changes nothing
    Merge {
        /// The other stores
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Let a benchmark go on under another id, or a metric under another name
    ///
    /// Whoever reads the store sees old and new measurements under the new id. Nothing that was
    /// measured is changed, and `lapwing db restore` undoes it.
    Rename(rename::Rename),
    /// Let what was measured of a benchmark until now count no more
    ///
    /// It is left out of lists and judgements from then on, and what is measured later starts
    /// anew. Nothing is deleted: `--retired` shows it, and `lapwing db restore` undoes it.
    Retire(retire::Retire),
    /// Undo a rename or a retirement
    Restore(restore::Restore),
    /// List what was said of measurements: who, when, what, why
    Annotations {
        /// The form of the answer
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: Format,
    },
    /// Share this store's measurements with others through URL, and take in theirs
    ///
    /// URL is a folder, also on a network file system, a plain HTTP server that takes PUT, or an
    /// S3-compatible object store. What is there already is not sent again; any number of stores
    /// may push at once. User and password of a server may stand in the address; s3:// takes
    /// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
    #[command(visible_alias = "sync")]
    Push(Share),
    /// Take in what others have pushed to URL
    ///
    /// As `push`, without sending anything: it needs no right to write there.
    Pull(Share),
    /// Really delete measurements; there is no way back
    Purge {
        #[command(flatten)]
        filters: Box<Filters>,
        /// Delete everything
        #[arg(long)]
        all: bool,
        /// Do it; without this it only says what would go
        #[arg(long)]
        yes: bool,
    },
}

impl Db {
    /// Does what the action says.
    pub fn act(self, context: &Context) -> Result<Exit, CliError> {
        match self.action {
            Action::Info { format } => info(context, format),
            Action::Check => check(context),
            Action::Migrate => migrate(context),
            Action::Merge { files } => merge(context, &files),
            Action::Rename(rename) => rename.act(context),
            Action::Retire(retire) => retire.act(context),
            Action::Restore(restore) => restore.act(context),
            Action::Annotations { format } => annotations::act(context, format),
            Action::Push(share) => share.push(context),
            Action::Pull(share) => share.pull(context),
            Action::Purge { filters, all, yes } => purge(context, &filters, all, yes),
        }
    }
}

fn info(context: &Context, format: Format) -> Result<Exit, CliError> {
    let store = open_for_reading(context)?;
    let info = store.info()?;
    let mut out = context.terminal.out();
    let time = |time: Option<jiff::Timestamp>| {
        time.map_or_else(String::new, |time| {
            time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
        })
    };
    if format == Format::Json {
        let counts: serde_json::Map<String, serde_json::Value> = info
            .counts
            .iter()
            .map(|(what, count)| ((*what).to_owned(), (*count).into()))
            .collect();
        let answer = serde_json::json!({
            "path": store.path(),
            "version": info.version,
            "newest_version": info.newest_version,
            "bytes": info.bytes,
            "first_session": info.first,
            "last_session": info.last,
            "counts": counts,
        });
        serde_json::to_writer_pretty(&mut out, &answer)?;
        writeln!(out)?;
        return Ok(Exit::Fine);
    }
    let mut table = Table::new(&[("what", Align::Left), ("value", Align::Right)]);
    let mut row = |what: &str, value: String| table.row(vec![what.to_owned(), value]);
    row("version", info.version.to_string());
    row("size", size(info.bytes));
    for (what, count) in &info.counts {
        row(what, grouped(*count));
    }
    row("first session", time(info.first));
    row("last session", time(info.last));
    match format {
        Format::Text => {
            writeln!(out, "{}\n", store.path().display())?;
            table.text(&mut out)?;
        }
        Format::Markdown => table.markdown(&mut out)?,
        Format::Csv | Format::Json => table.csv(&mut out)?,
    }
    Ok(Exit::Fine)
}

/// Returns a size with three significant digits and its unit.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    // Whole numbers suffice: one digit after the point at most.
    let (mut tenths, mut unit) = (bytes / 100, 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1000;
        unit += 1;
    }
    if tenths >= 1000 {
        format!("{} {}", tenths / 10, UNITS[unit])
    } else {
        format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
    }
}

fn check(context: &Context) -> Result<Exit, CliError> {
    let store = open_for_reading(context)?;
    let report = store.check()?;
    let mut out = context.terminal.out();
    if report.problems.is_empty() {
        writeln!(
            out,
            "{} is sound ({})",
            store.path().display(),
            counted(report.checks.len(), "check")
        )?;
        return Ok(Exit::Fine);
    }
    let problems = report.problems.len() as u64;
    Err(CliError::input(format!(
        "{} has {}: {}",
        store.path().display(),
        counted(problems, "problem"),
        report.problems.join("; ")
    ))
    .hint(
        "`lapwing export --to record -o FILE` saves what can be read; import it into a new store",
    ))
}

fn migrate(context: &Context) -> Result<Exit, CliError> {
    let store = open_for_reading(context)?;
    let info = store.info()?;
    writeln!(
        context.terminal.out(),
        "{} is of version {}, the newest",
        store.path().display(),
        info.version
    )?;
    Ok(Exit::Fine)
}

fn merge(context: &Context, files: &[PathBuf]) -> Result<Exit, CliError> {
    // All of them first: one that is not there is most likely mistyped.
    let others: Vec<Store> = files
        .iter()
        .map(|file| {
            let opened = Store::open_existing(file);
            opened.map_err(|error| CliError::from(error).consequence("nothing was merged"))
        })
        .collect::<Result<_, _>>()?;
    let is_new = !context.store.exists();
    let mut store = open_for_writing(context)?;
    let mut out = context.terminal.out();
    for (file, other) in files.iter().zip(&others) {
        let total = match store.merge(other) {
            Ok(appended) => appended.total(),
            Err(error) => {
                if is_new {
                    store.remove_if_empty();
                }
                return Err(CliError::from(error)
                    .consequence(format!("nothing of {} was merged", file.display())));
            }
        };
        writeln!(
            out,
            "{}: {} new, {} were there already",
            file.display(),
            counted(total.new, "record"),
            grouped(total.already_there)
        )?;
    }
    Ok(Exit::Fine)
}

fn purge(context: &Context, filters: &Filters, all: bool, yes: bool) -> Result<Exit, CliError> {
    let filter = filters.resolve()?;
    if !filter.metrics.is_empty() {
        return Err(CliError::input("a metric cannot be purged by itself")
            .hint("purge instances by benchmark, session, run, version, variant or date"));
    }
    if filter
        == (Filter {
            retired: filter.retired,
            ..Filter::default()
        })
        && !all
    {
        return Err(CliError::input("nothing says what to delete")
            .hint("choose with filters such as --session NAME, or delete everything with --all"));
    }
    let mut store = open_for_reading(context)?;
    let mut out = context.terminal.out();
    if !yes {
        let would = store.would_purge(&filter)?;
        writeln!(
            out,
            "would delete {} with {} from {}",
            counted(would.instances, "instance"),
            measured(&would).join(" and "),
            store.path().display()
        )?;
        context
            .terminal
            .note("nothing was deleted; say --yes to do it, there is no way back");
        return Ok(Exit::Fine);
    }
    let purged = store.purge(&filter)?;
    writeln!(
        out,
        "deleted {}, {}, {} and {}",
        measured(&purged).join(", "),
        counted(purged.instances, "instance"),
        counted(purged.runs, "run"),
        counted(purged.sessions, "session")
    )?;
    Ok(Exit::Fine)
}

/// Returns how many iterations, and how many summaries of sources that kept no samples.
fn measured(purged: &Purged) -> Vec<String> {
    let mut parts = Vec::new();
    if purged.iterations > 0 || purged.summaries == 0 {
        parts.push(counted(purged.iterations, "iteration"));
    }
    if purged.summaries > 0 {
        parts.push(counted(purged.summaries, "summary"));
    }
    parts
}
