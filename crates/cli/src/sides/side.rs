//! A side of a comparison, as people write it: `variant:fast`, `commit:ab12`, `file:old.json`.

use std::collections::BTreeSet;
use std::path::Path;
use std::str::FromStr;

use lapwing_core::record::{RunRow, is_setting};

use crate::error::CliError;

/// What a side is chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A named setting of factors, or levels of them.
    Variant,
    /// The name of a version of the software under test.
    Version,
    /// A commit of it, by the beginning of its hash.
    Commit,
    /// A run, by the beginning or end of its id.
    Run,
    /// A session, by its name or the beginning or end of its id.
    Session,
    /// A file that could be imported, or another store.
    File,
}

/// Fewer characters of a hash or an id name too many things.
const SHORTEST: usize = 4;

impl Kind {
    const ALL: [Self; 6] = [
        Self::Variant,
        Self::Version,
        Self::Commit,
        Self::Run,
        Self::Session,
        Self::File,
    ];

    /// Returns what stands before the colon.
    pub fn name(self) -> &'static str {
        match self {
            Self::Variant => "variant",
            Self::Version => "version",
            Self::Commit => "commit",
            Self::Run => "run",
            Self::Session => "session",
            Self::File => "file",
        }
    }

    /// Returns the runs that are chosen by a text. What no variant is called may be the name of a
    /// setting: `fast threads=4`.
    pub(super) fn chosen<'r>(self, runs: &'r [RunRow], text: &str) -> Vec<&'r RunRow> {
        let chosen: Vec<&RunRow> = runs.iter().filter(|run| self.chooses(run, text)).collect();
        if self != Self::Variant || !chosen.is_empty() {
            return chosen;
        }
        let runs = runs.iter();
        runs.filter(|run| is_setting(text, &run.variant, &run.levels))
            .collect()
    }

    /// Returns whether the run is chosen by that text.
    fn chooses(self, run: &RunRow, text: &str) -> bool {
        match self {
            Self::Variant => run.variant == text,
            Self::Version => run.version.as_deref() == Some(text),
            Self::Commit => run
                .commit
                .as_deref()
                .is_some_and(|it| text.len() >= SHORTEST && it.starts_with(text)),
            Self::Run => is_part_of_id(&run.id, text),
            Self::Session => {
                run.session_name.as_deref() == Some(text) || is_part_of_id(&run.session, text)
            }
            Self::File => false,
        }
    }

    /// Returns what of a run the kind is about: the commit of a run, the id of its session.
    fn of(self, run: &RunRow) -> Option<&str> {
        match self {
            Self::Variant => Some(&run.variant),
            Self::Version => run.version.as_deref(),
            Self::Commit => run.commit.as_deref(),
            Self::Run => Some(&run.id),
            Self::Session => Some(&run.session),
            Self::File => None,
        }
    }
}

fn is_part_of_id(id: &str, text: &str) -> bool {
    text.len() >= SHORTEST && (id.starts_with(text) || id.ends_with(text))
}

/// A side as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// What it is chosen by; `None` for a bare word, which is looked up.
    kind: Option<Kind>,
    /// What follows the colon.
    pub text: String,
}

impl FromStr for Side {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let stated = text.split_once(':').and_then(|(kind, rest)| {
            let kind = Kind::ALL.into_iter().find(|it| it.name() == kind)?;
            Some((kind, rest))
        });
        let (kind, text) = match stated {
            Some((kind, rest)) => (Some(kind), rest),
            None => (None, text),
        };
        if text.is_empty() {
            return Err("a side has a name: variant:fast, version:2.1, file:old.json".to_owned());
        }
        Ok(Self {
            kind,
            text: text.to_owned(),
        })
    }
}

impl Side {
    /// Returns whether it is a file, whatever the store holds.
    pub fn is_file(&self) -> bool {
        self.kind == Some(Kind::File)
    }

    /// Returns whether it is a file where no run has that name.
    pub fn may_be_file(&self) -> bool {
        self.is_file() || (self.kind.is_none() && Path::new(&self.text).exists())
    }

    /// Returns what a bare word could be among these runs.
    pub fn kinds(&self, runs: &[RunRow]) -> Vec<Kind> {
        let chooses = |kind: &Kind| !kind.chosen(runs, &self.text).is_empty();
        match self.kind {
            Some(kind) => vec![kind],
            None => Kind::ALL.into_iter().filter(chooses).collect(),
        }
    }

    /// Returns what it is chosen by, and the runs that it chooses.
    ///
    /// # Errors
    /// When it fits nothing or several things.
    pub fn look_up<'r>(&self, runs: &'r [RunRow]) -> Result<(Kind, Vec<&'r RunRow>), CliError> {
        let text = &self.text;
        let kind = match self.kinds(runs).as_slice() {
            [] => return Err(self.nothing(runs)),
            [kind] => *kind,
            several => {
                let written: Vec<String> = several
                    .iter()
                    .map(|kind| format!("`{}:{text}`", kind.name()))
                    .collect();
                return Err(CliError::input(format!("`{text}` could be several things"))
                    .hint(format!("write {}", written.join(" or "))));
            }
        };
        let chosen = kind.chosen(runs, text);
        if chosen.is_empty() {
            return Err(self.nothing(runs));
        }
        if matches!(kind, Kind::Commit | Kind::Run | Kind::Session) {
            let named = chosen
                .iter()
                .any(|run| run.session_name.as_ref() == Some(text));
            let meant: BTreeSet<&str> = chosen.iter().filter_map(|run| kind.of(run)).collect();
            if meant.len() > 1 && !(kind == Kind::Session && named) {
                let shown: Vec<&str> = meant.into_iter().take(6).collect();
                return Err(CliError::input(format!(
                    "{} `{text}` could be any of {}",
                    kind.name(),
                    shown.join(", ")
                ))
                .hint("write more of it"));
            }
        }
        Ok((kind, chosen))
    }

    fn nothing(&self, runs: &[RunRow]) -> CliError {
        let text = match self.kind {
            Some(kind @ (Kind::Commit | Kind::Run)) if self.text.len() < SHORTEST => format!(
                "`{}` is too short for a {}: write at least {SHORTEST} characters",
                self.text,
                kind.name()
            ),
            Some(kind) => format!("no run has the {} `{}`", kind.name(), self.text),
            None => format!(
                "`{}` is no variant, version, commit, run, session or file",
                self.text
            ),
        };
        CliError::input(text).hint(there_are(runs, self.kind))
    }
}

/// Returns what sides there are in the store, for a hint.
pub fn there_are(runs: &[RunRow], kind: Option<Kind>) -> String {
    match known(runs, kind) {
        Some(known) => format!("{known}; `lapwing list runs` shows all"),
        None => "`lapwing list runs` shows what there is".to_owned(),
    }
}

/// Returns what sides there are among these runs: `there are variant:fast, version:2.1`.
pub(super) fn known(runs: &[RunRow], kind: Option<Kind>) -> Option<String> {
    /// So many are worth naming.
    const SHOWN: usize = 6;
    let mut known: Vec<String> = Vec::new();
    let kinds = [Kind::Variant, Kind::Version, Kind::Session];
    for wanted in kinds
        .into_iter()
        .filter(|it| kind.is_none_or(|kind| kind == *it))
    {
        for run in runs {
            let text = match wanted {
                Kind::Session => run.session_name.as_deref(),
                _ => wanted.of(run),
            };
            let written = text.map(|text| format!("{}:{text}", wanted.name()));
            if let Some(written) = written
                && !known.contains(&written)
            {
                known.push(written);
            }
        }
    }
    if known.is_empty() {
        return None;
    }
    let more = known.len() > SHOWN;
    known.truncate(SHOWN);
    let listed = known.join(", ");
    let rest = if more { " and more" } else { "" };
    Some(format!("there are {listed}{rest}"))
}
