//! Damages stores in every way that a disk knows, and counts what comes back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rand::RngExt;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rusqlite::types::Value;
use serde_json::json;

use super::pages::PageFile;
use super::*;
use crate::{parse_line, write_line};
use lapwing_model::{Id, Record};

const PAGE: usize = 32_768;

fn id(kind: u64, number: u64) -> Id {
    Id::derived(&[&kind.to_le_bytes(), &number.to_le_bytes()])
}

/// Sessions of two runs of five benchmarks, with all kinds of records.
fn records(sessions: u64, iterations: u32) -> Vec<Record> {
    let mut lines = Vec::new();
    for session in 0..sessions {
        lines.push(
            json!({"v": 1, "kind": "session", "id": id(1, session), "suite": "s",
            "started": "2026-11-20T10:00:00Z", "tool": "t", "name": format!("session {session}"),
            "attributes": {"plan": "x".repeat(3_000)}}),
        );
        for run in [2 * session, 2 * session + 1] {
            lines.push(
                json!({"v": 1, "kind": "run", "id": id(2, run), "session": id(1, session),
                "variant": format!("v{}", run % 2), "metrics": {"wall_time": {"unit": "s"}}}),
            );
            for number in 0..10 {
                let instance = id(3, 100 * run + number);
                lines.push(
                    json!({"v": 1, "kind": "instance", "id": instance, "run": id(2, run),
                    "benchmark": {"id": format!("b{}", number % 5)}, "position": number,
                    "environment": {"cpu": "x".repeat(200)}}),
                );
                for index in 0..iterations {
                    let value = f64::from(index) / 7.0 + 1e-3;
                    lines.push(json!({"v": 1, "kind": "iteration", "instance": instance,
                        "index": index, "metrics": {"wall_time": value, "user_time": value / 2.0},
                        "attributes": {"exit_code": 0}}));
                }
                lines.push(
                    json!({"v": 1, "kind": "span", "instance": instance, "index": 0,
                    "name": "task", "events": {"started": 1}}),
                );
                lines.push(json!({"v": 1, "kind": "instance_end", "instance": instance}));
            }
        }
    }
    lines.push(
        json!({"v": 1, "kind": "annotation", "id": id(4, 1), "by": "me",
        "at": "2026-11-20T11:00:00Z", "action": "retire", "target": {"benchmark": "b0"}}),
    );
    let lines = lines.iter().map(ToString::to_string);
    lines
        .map(|line| parse_line(line.as_bytes()).unwrap())
        .collect()
}

fn store_of(path: &Path, records: &[Record]) {
    let mut store = Store::open(path).unwrap();
    store.append(records).unwrap();
    let merged: i64 = store
        .connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        .unwrap();
    assert_eq!(merged, 0);
}

fn lines(path: &Path) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    let store = Store::open_read_only(path).unwrap();
    let scanned = store.scan(&Filter::default(), |record| {
        let mut line = Vec::new();
        write_line(&mut line, &record).unwrap();
        lines.insert(String::from_utf8(line).unwrap());
        Ok::<(), StoreError>(())
    });
    scanned.unwrap();
    lines
}

/// Rescues a store with these bytes; returns the report and the lines that were saved.
fn saved(folder: &Path, bytes: &[u8]) -> (RescueReport, BTreeSet<String>) {
    let damaged = folder.join("damaged.db");
    fs::write(&damaged, bytes).unwrap();
    let scratch = tempfile::tempdir_in(folder).unwrap();
    let new = scratch.path().join("new.db");
    let report = rescue(&damaged, &new, scratch.path()).unwrap();
    (report, lines(&new))
}

#[test]
fn a_sound_store_is_saved_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sound.db");
    store_of(&path, &records(2, 150));
    let (report, found) = saved(folder.path(), &fs::read(&path).unwrap());
    assert_eq!((report.lost, report.unreadable_pages), (Vec::new(), 0));
    assert_eq!(found, lines(&path));
}

#[test]
fn a_digit_that_has_changed_is_noticed_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sound.db");
    store_of(&path, &records(1, 20));
    let mut bytes = fs::read(&path).unwrap();
    let needle = b"[0.001,0.14385714285714285";
    let at = { bytes.windows(needle.len()) }
        .position(|it| it == needle)
        .unwrap();
    bytes[at + 5] = b'7';
    fs::write(&path, &bytes).unwrap();
    let store = Store::open(&path).unwrap();
    let report = store.upkeep().check().unwrap();
    assert_eq!(report.problems.len(), 1, "{report:?}");
    assert!(
        report.problems[0].starts_with("values of `wall_time` of iterations 0 to 19 of instance ")
            && report.problems[0].ends_with(", session `session 0`): the values have changed"),
        "{report:?}"
    );
    let scanned = store.scan(&Filter::default(), |_record| Ok::<(), StoreError>(()));
    let error = scanned.unwrap_err().to_string();
    assert!(
        error.ends_with("values of `wall_time` have changed"),
        "{error}"
    );
    let (report, _) = saved(folder.path(), &bytes);
    assert_eq!(report.lost.len(), 1, "{report:?}");
}

/// Changes a file in one of the ways; returns the pages that are not what they were.
fn damage(bytes: &mut Vec<u8>, way: usize, random: &mut Xoshiro256PlusPlus) -> BTreeSet<u32> {
    let pages = bytes.len() / PAGE;
    let page = random.random_range(0..pages);
    let number = |page: usize| u32::try_from(page + 1).unwrap();
    let start = page * PAGE;
    match way {
        // A page of zeros; of noise; a sector of zeros, of noise.
        0 => bytes[start..start + PAGE].fill(0),
        1 => random.fill(&mut bytes[start..start + PAGE]),
        2 | 3 => {
            let sector = start + 512 * random.random_range(0..PAGE / 512);
            match way {
                2 => bytes[sector..sector + 512].fill(0),
                _noise => random.fill(&mut bytes[sector..sector + 512]),
            }
        }
        // A bit.
        4 => bytes[start + random.random_range(0..PAGE)] ^= 1 << random.random_range(0..8),
        // Another page in its place.
        5 => {
            let other = PAGE * random.random_range(0..pages);
            bytes.copy_within(other..other + PAGE, start);
        }
        // The rest is missing.
        _cut => {
            bytes.truncate(start.max(PAGE) + 100);
            return (number(bytes.len() / PAGE)..=number(pages)).collect();
        }
    }
    BTreeSet::from([number(page)])
}

/// The chunks that are on each page, and those whose values are, by the keys of instance and chunk.
fn chunks_by_page(file: &PageFile) -> BTreeMap<u32, BTreeSet<(i64, i64)>> {
    let mut by_page: BTreeMap<u32, BTreeSet<(i64, i64)>> = BTreeMap::new();
    for number in 1..=file.pages {
        let rows = file.rows(number).into_iter().flat_map(|(_, rows, _)| rows);
        for row in rows {
            let key = match &row.values[..] {
                [
                    Value::Integer(instance),
                    Value::Integer(first),
                    Value::Integer(_),
                    _,
                    _,
                    _,
                    _,
                    _,
                    _,
                    _,
                    _,
                ]
                | [
                    Value::Integer(_),
                    Value::Integer(instance),
                    Value::Integer(first),
                    Value::Text(_),
                    _,
                ] => (*instance, *first),
                _other => continue,
            };
            by_page.entry(number).or_default().insert(key);
        }
    }
    by_page
}

/// `LAPWING_CORRUPTIONS` says how many; `docs/reliability.md` has the results of many.
#[test]
fn what_is_on_pages_that_are_not_damaged_is_saved() {
    let wanted = std::env::var("LAPWING_CORRUPTIONS").ok();
    let cases: usize = wanted.and_then(|it| it.parse().ok()).unwrap_or(14);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sound.db");
    store_of(&path, &records(3, 300));
    let sound = fs::read(&path).unwrap();
    let store = Store::open_read_only(&path).unwrap();
    let mut statement = store
        .connection
        .prepare("SELECT chunk.instance, first, count, instance.id FROM chunk JOIN instance ON instance.key = chunk.instance")
        .unwrap();
    let chunks = statement
        .query_map([], |row| {
            Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?)))
        })
        .unwrap();
    let chunks: BTreeMap<(i64, i64), (i64, String)> = chunks.collect::<Result<_, _>>().unwrap();
    let by_page = chunks_by_page(&PageFile::open(&path).unwrap());
    let all = lines(&path);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(18);
    let (mut expected, mut found) = (0, 0);
    for case in 0..cases {
        let mut bytes = sound.clone();
        let pages = damage(&mut bytes, case % 7, &mut random);
        let none = BTreeSet::new();
        let touched: BTreeSet<(i64, i64)> = { pages.iter() }
            .flat_map(|page| by_page.get(page).unwrap_or(&none))
            .copied()
            .collect();
        let (report, saved) = saved(folder.path(), &bytes);
        let (mut here, mut there) = (0, 0);
        for (key, (count, instance)) in &chunks {
            if touched.contains(key) {
                continue;
            }
            for index in key.1..key.1 + count {
                here += 1;
                let begin = format!(
                    r#"{{"v":1,"kind":"iteration","instance":"{instance}","index":{index},"#
                );
                let mut lines = all.range(begin.clone()..);
                let line = lines
                    .next()
                    .filter(|line| line.starts_with(&begin))
                    .unwrap();
                there += usize::from(saved.contains(line));
            }
        }
        if there < here {
            println!(
                "case {case}: {there} of {here}, pages {pages:?}: {:?}",
                report.lost
            );
        }
        // What is not as it was is named, but for what is no measurement.
        let of_iterations = all.iter().filter(|it| it.contains(r#""kind":"iteration""#));
        let lost = of_iterations.filter(|it| !saved.contains(*it)).count();
        let named = !report.lost.is_empty() || report.unreadable_pages > 0;
        assert!(
            lost == 0 || named,
            "case {case}, pages {pages:?}: {lost} lost"
        );
        expected += here;
        found += there;
    }
    println!("{cases} corruptions: {found} of {expected} iterations on undamaged pages saved");
    assert!(found * 100 >= expected * 99, "{found} of {expected}");
}
