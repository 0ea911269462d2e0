//! A side of a comparison, as written on the command line: `variant:fast`, `commit:ab12`, `file:old.json`, or a
//! selector such as `last 10 of main`.

use std::collections::BTreeSet;
use std::path::Path;
use std::str::FromStr;

use super::chosen_runs::ChosenRuns;
use super::filter::{RunKey, SHORTEST_ID};
use super::known_sides::KnownSides;
use super::{MainChoice, MainRuns, RepositoryCommits, Selector};
use lapwing_model::text::{counted, joined_with_and};
use lapwing_record::{RunHead, StoreError};

/// The knowledge that finds the runs of a side, besides its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct SideLookup<'a> {
    pub(super) repository: &'a RepositoryCommits<'a>,
    pub(super) main: &'a MainRuns,
    /// The runs of conditions that do not choose a branch or version.
    pub(super) choice: MainChoice,
}

/// The kind of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SideKind {
    /// A property of runs in the store.
    Runs(RunKey),
    /// Conditions on runs in the store.
    Query,
    /// A file that could be imported, or another store.
    File,
}

impl SideKind {
    const ALL: [Self; 6] = [
        Self::Runs(RunKey::Variant),
        Self::Runs(RunKey::Version),
        Self::Runs(RunKey::Commit),
        Self::Runs(RunKey::Run),
        Self::Runs(RunKey::Session),
        Self::File,
    ];

    /// Returns the text before the colon.
    pub fn name(self) -> &'static str {
        match self {
            Self::Runs(key) => key.name(),
            Self::Query => "query",
            Self::File => "file",
        }
    }

    /// Returns the runs that a text selects.
    fn chosen<'r>(self, runs: &'r [RunHead], text: &str) -> Vec<&'r RunHead> {
        match self {
            Self::Runs(key) => key.chosen(runs, text),
            Self::Query | Self::File => Vec::new(),
        }
    }
}

/// Errors of resolving the sides of a comparison.
#[derive(Debug, thiserror::Error)]
pub enum SideError {
    /// A bare word has no match.
    #[error("`{text}` is not a variant, version, commit, run, session or file")]
    Nothing {
        /// The word.
        text: String,
        /// The available sides.
        known: KnownSides,
    },
    /// No run is selected.
    #[error("no run has the {} `{text}`", kind.name())]
    NoRun {
        /// The kind of its specification.
        kind: SideKind,
        /// The text as written.
        text: String,
        /// The available sides.
        known: KnownSides,
    },
    /// No run has all of the properties.
    #[error("no run passes `{text}`")]
    NoRunPasses {
        /// The query.
        text: String,
    },
    /// Runs have all of the properties, but none of the default branch.
    #[error("`{text}` selects no run of {main}, only {} of other branches or commits", counted(*others, "run"))]
    OnlyOthers {
        /// The query.
        text: String,
        /// The default branch.
        main: String,
        /// Number of runs of other branches or commits.
        others: usize,
    },
    /// No run is of a commit on the line of first parents.
    #[error("no measured commit is on the line of first parents{}", branch.as_ref().map(|it| format!(" of `{it}`")).unwrap_or_default())]
    NoFirstParents {
        /// The default branch of the repository.
        branch: Option<String>,
    },
    /// No run measured the commit that a revision means.
    #[error("`{text}` is commit {}, which is not measured", commit.get(..10).unwrap_or(commit))]
    NotMeasured {
        /// The text as written.
        text: String,
        /// The commit.
        commit: String,
        /// The nearest of its ancestors that is measured.
        nearest: Option<String>,
    },
    /// Too few characters of an id.
    #[error(
        "`{text}` is too short for a {}: write at least {} characters",
        kind.name(),
        SHORTEST_ID
    )]
    TooShort {
        /// The kind of its specification.
        kind: SideKind,
        /// The text as written.
        text: String,
        /// The available sides.
        known: KnownSides,
    },
    /// A bare word is ambiguous, such as both a variant and a version.
    #[error("`{text}` could be several things")]
    SeveralKinds {
        /// The word.
        text: String,
        /// The possible kinds.
        kinds: Vec<SideKind>,
    },
    /// A part of an id or hash has several matches.
    #[error("{} `{text}` could be any of {}", kind.name(), candidates.join(", "))]
    SeveralRuns {
        /// The kind of its specification.
        kind: SideKind,
        /// The text as written.
        text: String,
        /// Some of the matches.
        candidates: Vec<String>,
    },
    /// The filters exclude all of a file.
    #[error("nothing in {file} passes {filters}")]
    NothingPasses {
        /// The file.
        file: String,
        /// The filters as they are written.
        filters: String,
        /// The available sides.
        known: KnownSides,
    },
    /// Two sides have runs in common.
    #[error("{} and {} have runs in common", sides[0], sides[1])]
    Overlap {
        /// The two sides: "variant `fast`".
        sides: [String; 2],
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A side as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideSpec {
    /// Its kind; `None` for a bare word, which is looked up.
    kind: Option<SideKind>,
    /// The text after the colon, or of the whole query.
    pub text: String,
    /// The conditions of a query.
    query: Option<Selector>,
}

impl FromStr for SideSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let stated = text.split_once(':').and_then(|(kind, rest)| {
            let kind = SideKind::ALL.into_iter().find(|it| it.name() == kind)?;
            Some((kind, rest))
        });
        let (kind, text) = match stated {
            Some((kind, rest)) => (Some(kind), rest),
            None => (None, text),
        };
        if text.is_empty() {
            return Err("a side needs a name: variant:fast, version:2.1, file:old.json".to_owned());
        }
        Ok(Self {
            kind,
            text: text.to_owned(),
            query: None,
        })
    }
}

impl SideSpec {
    /// Returns the side of the runs that a selector selects; `variant=fast` is the same as `variant:fast`.
    ///
    /// # Errors
    /// If it has a condition that is not about runs.
    pub fn of_query(text: &str, query: Selector) -> Result<Self, String> {
        if let Some(key) = query.of_instances() {
            return Err(format!(
                "a side cannot be chosen by `{key}`, only by properties of its runs: write --where {key}=…"
            ));
        }
        let only = query.only();
        if let Some((key, value)) = only.filter(|it| SideKind::ALL.contains(&SideKind::Runs(it.0)))
        {
            return Ok(Self {
                kind: Some(SideKind::Runs(key)),
                text: value.to_owned(),
                query: None,
            });
        }
        Ok(Self {
            kind: Some(SideKind::Query),
            text: text.trim().to_owned(),
            query: Some(query),
        })
    }

    /// Returns whether it is a word without a prefix, which is looked up.
    pub fn is_word(&self) -> bool {
        self.kind.is_none() && self.query.is_none()
    }

    /// Returns whether it is a file, whatever the store contains.
    pub fn is_file(&self) -> bool {
        self.kind == Some(SideKind::File)
    }

    /// Returns whether it is a file, or a pattern for files, given that no run has that name.
    pub fn may_be_file(&self) -> bool {
        let is_named = || Path::new(&self.text).exists() || self.is_file_pattern();
        self.is_file() || (self.kind.is_none() && is_named())
    }

    /// Returns whether it is a pattern for files, which may have brackets, and not the name of one.
    pub(super) fn is_file_pattern(&self) -> bool {
        self.text.contains(['*', '?', '[']) && !Path::new(&self.text).exists()
    }

    /// Returns whether it is conditions.
    pub(super) fn is_query(&self) -> bool {
        self.query.is_some()
    }

    /// Returns the possible kinds of a bare word among these runs.
    pub(super) fn kinds(&self, runs: &[RunHead]) -> Vec<SideKind> {
        let chooses = |kind: &SideKind| !kind.chosen(runs, &self.text).is_empty();
        match self.kind {
            Some(kind) => vec![kind],
            None => SideKind::ALL.into_iter().filter(chooses).collect(),
        }
    }

    /// Returns the runs of the commit that its text means as a revision; `None` if it means none.
    fn of_revision<'r>(
        &self,
        runs: &'r [RunHead],
        repository: &RepositoryCommits<'_>,
    ) -> Result<Option<Vec<&'r RunHead>>, SideError> {
        let commits = (repository.ancestry)(&self.text);
        let Some(commit) = commits.first() else {
            return Ok(None);
        };
        let of = |commit: &String| -> Vec<&'r RunHead> {
            let is_of = |run: &&RunHead| {
                let recorded = run.commit.as_ref();
                recorded.is_some_and(|it| it.len() >= SHORTEST_ID && commit.starts_with(it))
            };
            runs.iter().filter(is_of).collect()
        };
        let chosen = of(commit);
        if chosen.is_empty() {
            let nearest = commits.iter().find(|commit| !of(commit).is_empty());
            return Err(SideError::NotMeasured {
                text: self.text.clone(),
                commit: commit.clone(),
                nearest: nearest.cloned(),
            });
        }
        Ok(Some(chosen))
    }

    /// Returns its kind, and the runs that it selects. Those of conditions are of the default branch, as in a history,
    /// unless they choose another one or versions; those of another branch, a commit or version are without the runs
    /// with uncommitted changes, where there are others.
    ///
    /// # Errors
    /// If it matches nothing, or several things.
    pub(super) fn resolve<'r>(
        &self,
        runs: &'r [RunHead],
        lookup: SideLookup<'_>,
    ) -> Result<(SideKind, ChosenRuns<'r>), SideError> {
        let SideLookup {
            repository,
            main,
            choice,
        } = lookup;
        if let Some(query) = &self.query {
            let all = repository.with_branches(query, runs, main);
            let mut chosen = ChosenRuns::of(runs, &query.without_latest().choose(&all)?);
            let is_branch = !query.alternatives(RunKey::Branch).is_empty();
            chosen = match choice.unless_chosen(query, main) {
                MainChoice::All if is_branch => chosen.without_uncommitted(),
                MainChoice::All => chosen,
                MainChoice::DefaultBranch | MainChoice::FirstParents => chosen.of_main(main),
            };
            if let Some(latest) = query.latest() {
                chosen = chosen.latest(&latest);
            }
            return if chosen.runs.is_empty() && !chosen.others.is_empty() {
                let branches: Vec<&str> = main.branches.iter().map(String::as_str).collect();
                Err(SideError::OnlyOthers {
                    text: self.text.clone(),
                    main: joined_with_and(&branches),
                    others: chosen.others.len(),
                })
            } else if chosen.runs.is_empty() {
                Err(self.nothing(runs))
            } else {
                Ok((SideKind::Query, chosen))
            };
        }
        let (kind, runs) = self.resolve_word(runs, repository)?;
        let chosen = ChosenRuns {
            runs,
            ..ChosenRuns::default()
        };
        Ok(match kind {
            SideKind::Runs(RunKey::Commit | RunKey::Version) => {
                (kind, chosen.without_uncommitted())
            }
            _ => (kind, chosen),
        })
    }

    fn resolve_word<'r>(
        &self,
        runs: &'r [RunHead],
        repository: &RepositoryCommits<'_>,
    ) -> Result<(SideKind, Vec<&'r RunHead>), SideError> {
        let text = &self.text;
        let commit = SideKind::Runs(RunKey::Commit);
        let may_be_revision = self.kind.is_none_or(|kind| kind == commit)
            && self
                .kinds(runs)
                .iter()
                .all(|kind| kind.chosen(runs, text).is_empty());
        if may_be_revision && let Some(chosen) = self.of_revision(runs, repository)? {
            return Ok((commit, chosen));
        }
        let kind = match self.kinds(runs).as_slice() {
            [] => return Err(self.nothing(runs)),
            [kind] => *kind,
            several => {
                return Err(SideError::SeveralKinds {
                    text: text.clone(),
                    kinds: several.to_vec(),
                });
            }
        };
        let chosen = kind.chosen(runs, text);
        if chosen.is_empty() {
            return Err(self.nothing(runs));
        }
        if let SideKind::Runs(key @ (RunKey::Commit | RunKey::Run | RunKey::Session)) = kind {
            let is_named = |run: &&RunHead| run.session_name.as_ref() == Some(text);
            let named = key == RunKey::Session && chosen.iter().any(is_named);
            let meant: BTreeSet<String> = chosen.iter().filter_map(|run| key.of(run)).collect();
            if meant.len() > 1 && !named {
                return Err(SideError::SeveralRuns {
                    kind,
                    text: text.clone(),
                    candidates: meant.into_iter().take(6).collect(),
                });
            }
        }
        Ok((kind, chosen))
    }

    fn nothing(&self, runs: &[RunHead]) -> SideError {
        let known = KnownSides::among(runs, self.kind);
        let text = self.text.clone();
        match self.kind {
            Some(kind @ SideKind::Runs(RunKey::Commit | RunKey::Run))
                if text.len() < SHORTEST_ID =>
            {
                SideError::TooShort { kind, text, known }
            }
            Some(SideKind::Query) => SideError::NoRunPasses { text },
            Some(kind) => SideError::NoRun { kind, text, known },
            None => {
                let is_branch = |run: &RunHead| run.branch.as_ref() == Some(&text);
                let branch = runs.iter().any(is_branch);
                let known = known.and_first(branch.then(|| format!("branch:{text}")));
                SideError::Nothing { text, known }
            }
        }
    }
}
