//! Where series are searched: in this process, or in others that are given files of them.
//!
//! The search of a series depends on its points, the shared changes and the options alone, so that it finds the same
//! wherever it is made.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use lapwing_stats::changepoint::{LevelNoise, LevelOptions};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::searched::SearchedSeries;
use super::series::SeriesPoint;
use super::shared::SharedChange;

/// The number of series that a process reads before it searches them.
const AT_ONCE: usize = 256;

/// Searches series for changes.
pub trait SeriesSearcher {
    /// Why it cannot go on.
    type Error;

    /// Returns what is found in each series, in their order.
    ///
    /// # Errors
    ///
    /// If it cannot go on, or was told not to.
    fn search(&mut self, searches: &[SeriesSearch<'_>])
    -> Result<Vec<SearchedSeries>, Self::Error>;
}

/// Searches in this process.
#[derive(Debug, Clone, Copy)]
pub struct LocalSearcher;

impl SeriesSearcher for LocalSearcher {
    type Error = Infallible;

    fn search(&mut self, searches: &[SeriesSearch<'_>]) -> Result<Vec<SearchedSeries>, Infallible> {
        Ok(searches.par_iter().map(SeriesSearch::search).collect())
    }
}

/// A search of one series.
#[derive(Debug, Clone)]
pub struct SeriesSearch<'s> {
    points: Cow<'s, [SeriesPoint]>,
    shared: Cow<'s, [SharedChange]>,
    options: LevelOptions,
}

impl<'s> SeriesSearch<'s> {
    pub(super) fn new(
        points: &'s [SeriesPoint],
        shared: &'s [SharedChange],
        options: LevelOptions,
    ) -> Self {
        Self {
            points: Cow::Borrowed(points),
            shared: Cow::Borrowed(shared),
            options,
        }
    }

    /// Returns what is found in it.
    pub fn search(&self) -> SearchedSeries {
        SearchedSeries::of(&self.points, &self.shared, &self.options)
    }
}

/// A search in a file: a line of JSON.
#[derive(Serialize, Deserialize)]
struct WrittenSearch {
    /// Its number among those of all files.
    number: usize,
    moments: Vec<usize>,
    values: Vec<f64>,
    shared: Vec<SharedChange>,
    #[serde(with = "OptionFields")]
    options: LevelOptions,
}

/// The fields of options.
#[derive(Serialize, Deserialize)]
#[serde(remote = "LevelOptions")]
struct OptionFields {
    false_alarms: f64,
    minimum_segment: Option<usize>,
    #[serde(with = "NoiseFields")]
    noise: LevelNoise,
}

/// The fields of noise.
#[derive(Serialize, Deserialize)]
#[serde(remote = "LevelNoise")]
pub(super) struct NoiseFields {
    autocorrelation: f64,
    volatility: f64,
}

/// A line of a file of results.
#[derive(Serialize, Deserialize)]
enum FoundLine {
    Found(usize, SearchedSeries),
    /// There are no more.
    End,
}

/// Writes those of these searches that belong to one of so many shares.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write_searches(
    path: &Path,
    searches: &[SeriesSearch<'_>],
    share: u64,
    shares: u64,
) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let numbered = (0..).zip(searches.iter().enumerate());
    let of_share = numbered.filter(|(number, _)| number % shares == share);
    for (_, (number, search)) in of_share {
        let points = &search.points;
        let written = WrittenSearch {
            number,
            moments: points.iter().map(|point| point.moment).collect(),
            values: points.iter().map(|point| point.value).collect(),
            shared: search.shared.to_vec(),
            options: search.options,
        };
        write_line(&mut file, &written)?;
    }
    file.flush()
}

/// Makes the searches in a file, and writes what they find to another.
///
/// # Errors
///
/// If a file cannot be read or written, or is damaged.
pub fn search_file(path: &Path, results: &Path) -> io::Result<()> {
    let mut lines = BufReader::new(File::open(path)?).lines();
    let mut file = BufWriter::new(File::create(results)?);
    loop {
        let texts = lines
            .by_ref()
            .take(AT_ONCE)
            .collect::<io::Result<Vec<_>>>()?;
        if texts.is_empty() {
            break;
        }
        let found = texts.par_iter().map(|text| {
            let written: WrittenSearch = serde_json::from_str(text)?;
            let number = written.number;
            let search = SeriesSearch::from(written);
            Ok(FoundLine::Found(number, search.search()))
        });
        for line in found.collect::<io::Result<Vec<_>>>()? {
            write_line(&mut file, &line)?;
        }
    }
    write_line(&mut file, &FoundLine::End)?;
    file.flush()
}

impl From<WrittenSearch> for SeriesSearch<'static> {
    fn from(written: WrittenSearch) -> Self {
        let points = written.moments.into_iter().zip(written.values);
        let point = |(moment, value)| SeriesPoint {
            moment,
            value,
            // A search does not look at it.
            instances: 1,
        };
        Self {
            points: points.map(point).collect(),
            shared: Cow::Owned(written.shared),
            options: written.options,
        }
    }
}

fn write_line(file: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *file, line)?;
    file.write_all(b"\n")
}

/// What other processes found.
#[derive(Debug, Default)]
pub struct FoundElsewhere {
    found: BTreeMap<usize, SearchedSeries>,
}

impl FoundElsewhere {
    /// Reads a file of results. Returns whether it is complete.
    pub fn read(&mut self, path: &Path) -> bool {
        let text = fs::read_to_string(path).unwrap_or_default();
        for line in text.lines() {
            match serde_json::from_str(line) {
                Ok(FoundLine::Found(number, found)) => {
                    self.found.insert(number, found);
                }
                Ok(FoundLine::End) => return true,
                // The process was ended while it wrote.
                Err(_cut_off) => return false,
            }
        }
        false
    }

    /// Returns what was found in all searches, and the number of those that are made here because they are missing.
    pub fn complete(mut self, searches: &[SeriesSearch<'_>]) -> (Vec<SearchedSeries>, usize) {
        let missing: Vec<usize> = (0..searches.len())
            .filter(|number| !self.found.contains_key(number))
            .collect();
        let made = missing
            .par_iter()
            .map(|number| (*number, searches[*number].search()));
        self.found.extend(made.collect::<Vec<_>>());
        (self.found.into_values().collect(), missing.len())
    }
}
