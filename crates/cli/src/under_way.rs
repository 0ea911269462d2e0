//! Sessions in progress.

use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader};
use std::path::Path;

use lapwing_core::model::{Record, Session};
use lapwing_core::record::parse_line;

/// Returns the sessions whose record files in an inbox are locked by those who write them, by their names.
pub fn sessions(inbox: &Path) -> Vec<Session> {
    let entries = fs::read_dir(inbox).into_iter().flatten().flatten();
    let mut found: Vec<Session> = entries.filter_map(|it| session(&it.path())).collect();
    found.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
    // Several workers of one session have a file each.
    found.dedup_by_key(|it| it.id);
    found
}

fn session(path: &Path) -> Option<Session> {
    path.extension().filter(|it| *it == "jsonl")?;
    let file = File::open(path).ok()?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {}
        Ok(()) | Err(TryLockError::Error(_)) => return None,
    }
    let mut line = String::new();
    BufReader::new(file).read_line(&mut line).ok()?;
    match parse_line(line.trim().as_bytes()) {
        Ok(Record::Session(session)) => Some(session),
        Ok(_) | Err(_) => None,
    }
}
