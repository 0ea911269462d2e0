//! Reads rows from the pages of an SQLite file, without SQLite, which stops at the first bad page.
//!
//! The format is that of <https://www.sqlite.org/fileformat2.html>, sections 1.3, 1.5, 1.6 and 2.1.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rusqlite::types::Value;

/// A file of pages.
#[derive(Debug)]
pub(super) struct PageFile {
    file: File,
    page_size: usize,
    /// How many pages it has; a last one that was cut off counts.
    pub(super) pages: u32,
}

/// What a page of a b-tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    TableLeaf,
    TableInterior,
    IndexLeaf,
    IndexInterior,
}

/// A row as a page has it. A table's own key is not among the values.
#[derive(Debug)]
pub(super) struct PageRow {
    pub(super) rowid: Option<i64>,
    pub(super) values: Vec<Value>,
}

/// The trees of a file as far as they can be followed.
#[derive(Debug, Default)]
pub(super) struct PageOwners {
    /// The name of the tree that a page belongs to.
    pub(super) owners: BTreeMap<u32, String>,
    /// Pages that hold nothing any more.
    pub(super) free: BTreeSet<u32>,
    /// Pages of a tree that are not what they should be.
    pub(super) unreadable: BTreeSet<u32>,
}

impl PageFile {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut header = [0; 18];
        let _short: io::Result<()> = file.read_exact_at(&mut header, 0);
        let stated = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            other => usize::from(other),
        };
        let mut this = Self {
            file,
            page_size: stated,
            pages: 0,
        };
        // Ours have these; the header may be what is damaged.
        let sizes = [stated, 32_768, 8_192, 4_096];
        let plausible = |size: &usize| size.is_power_of_two() && (512..=65_536).contains(size);
        let mut best = 0;
        for size in sizes.into_iter().filter(plausible) {
            let mut with = Self {
                file: this.file.try_clone()?,
                page_size: size,
                pages: u32::try_from(length.div_ceil(size as u64)).unwrap_or(u32::MAX),
            };
            let readable = with.sample();
            if readable > best {
                best = readable;
                std::mem::swap(&mut this, &mut with);
            }
        }
        Ok(this)
    }

    /// Returns how many of the first pages have rows, by bytes: the right size has the most.
    fn sample(&self) -> usize {
        const BYTES: usize = 4 << 20;
        let first = (2..=self.pages).take(BYTES / self.page_size);
        first
            .filter(|&number| {
                self.page(number)
                    .is_some_and(|page| self.looks_sound(&page))
            })
            .count()
            * self.page_size
    }

    fn looks_sound(&self, page: &[u8]) -> bool {
        kind_of(page, 0).is_some_and(|kind| {
            let cells = self.cells(page, 0, kind);
            !cells.is_empty() && cells.len() == usize::from(u16_at(page, 3).unwrap_or(0))
        })
    }

    /// Returns a page, counted from 1; what is missing of a last one is zero.
    pub(super) fn page(&self, number: u32) -> Option<Vec<u8>> {
        let offset = u64::from(number.checked_sub(1)?) * self.page_size as u64;
        let mut page = vec![0; self.page_size];
        let mut filled = 0;
        while filled < page.len() {
            match self
                .file
                .read_at(&mut page[filled..], offset + filled as u64)
            {
                Ok(0) if filled == 0 => return None,
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A sector that cannot be read loses its page, not the others.
                Err(_) => return None,
            }
        }
        Some(page)
    }

    /// Returns the kind of a page, its rows, and how many of its cells cannot be read; nothing when it is no
    /// page of a tree.
    pub(super) fn rows(&self, number: u32) -> Option<(PageKind, Vec<PageRow>, usize)> {
        let page = self.page(number)?;
        let start = start_of(number);
        let kind = kind_of(&page, start)?;
        if kind == PageKind::TableInterior {
            return Some((kind, Vec::new(), 0));
        }
        let cells = self.cells(&page, start, kind).into_iter();
        let rows: Vec<PageRow> = cells.filter_map(|at| self.row(&page, at, kind)).collect();
        let stated = usize::from(u16_at(&page, start + 3).unwrap_or(0));
        let bad = stated.saturating_sub(rows.len());
        Some((kind, rows, bad))
    }

    /// Follows the trees from their roots, and the list of free pages.
    pub(super) fn owners(&self, roots: &[(String, u32)]) -> PageOwners {
        let mut found = PageOwners::default();
        self.find_free(&mut found.free);
        for (name, root) in roots {
            let mut waiting = vec![(*root, None)];
            while let Some((number, is_table)) = waiting.pop() {
                // A view has no root.
                if number == 0 {
                    continue;
                }
                let page = self.page(number);
                let start = start_of(number);
                let kind = page.as_ref().and_then(|page| kind_of(page, start));
                let (Some(page), Some(kind)) = (page, kind) else {
                    found.unreadable.insert(number);
                    continue;
                };
                let of_table = matches!(kind, PageKind::TableLeaf | PageKind::TableInterior);
                if is_table.is_some_and(|is_table| is_table != of_table) {
                    found.unreadable.insert(number);
                    continue;
                }
                // Two pages cannot lead to the same one.
                if found.owners.contains_key(&number) {
                    found.unreadable.insert(number);
                    continue;
                }
                found.owners.insert(number, name.clone());
                let cells = self.cells(&page, start, kind);
                let is_root = is_table.is_none();
                let stated = usize::from(u16_at(&page, start + 3).unwrap_or(0));
                // Only a tree without rows has an empty page.
                if cells.len() != stated || (stated == 0 && !is_root) {
                    found.unreadable.insert(number);
                }
                if matches!(kind, PageKind::TableInterior | PageKind::IndexInterior) {
                    let children = cells.into_iter().chain([start + 8]);
                    waiting.extend(children.map(|at| (u32_at(&page, at), Some(of_table))));
                }
            }
        }
        found.free.retain(|page| !found.owners.contains_key(page));
        found
    }

    fn find_free(&self, free: &mut BTreeSet<u32>) {
        let first = self.page(1).unwrap_or_default();
        let mut trunk = u32_at(&first, 32);
        while trunk != 0 && free.insert(trunk) {
            let Some(page) = self.page(trunk) else {
                return;
            };
            let leaves = (u32_at(&page, 4) as usize).min(self.page_size / 4 - 2);
            free.extend((0..leaves).map(|leaf| u32_at(&page, 8 + 4 * leaf)));
            trunk = u32_at(&page, 0);
        }
    }

    /// Returns where the cells of a page begin, as far as that can be true.
    fn cells(&self, page: &[u8], start: usize, kind: PageKind) -> Vec<usize> {
        let header = match kind {
            PageKind::TableLeaf | PageKind::IndexLeaf => 8,
            PageKind::TableInterior | PageKind::IndexInterior => 12,
        };
        let count = usize::from(u16_at(page, start + 3).unwrap_or(0));
        let array = start + header;
        let count = count.min((self.page_size - array) / 2);
        let cells = (0..count).filter_map(|cell| u16_at(page, array + 2 * cell));
        cells
            .map(usize::from)
            .filter(|&at| at >= array + 2 * count && at + 4 <= self.page_size)
            .collect()
    }

    fn row(&self, page: &[u8], cell: usize, kind: PageKind) -> Option<PageRow> {
        let mut at = cell;
        if kind == PageKind::IndexInterior {
            at += 4;
        }
        let length = usize::try_from(varint(page, &mut at)?).ok()?;
        let rowid = match kind {
            PageKind::TableLeaf => Some(varint(page, &mut at)?.cast_signed()),
            PageKind::IndexLeaf | PageKind::IndexInterior | PageKind::TableInterior => None,
        };
        let payload = self.payload(page, at, length, kind)?;
        Some(PageRow {
            rowid,
            values: values(&payload)?,
        })
    }

    /// Returns what a cell holds, from its page and from those that it goes on in.
    fn payload(&self, page: &[u8], at: usize, length: usize, kind: PageKind) -> Option<Vec<u8>> {
        let usable = self.page_size;
        if length as u64 > u64::from(self.pages) * usable as u64 {
            return None;
        }
        let most = match kind {
            PageKind::TableLeaf | PageKind::TableInterior => usable - 35,
            PageKind::IndexLeaf | PageKind::IndexInterior => (usable - 12) * 64 / 255 - 23,
        };
        if length <= most {
            return Some(page.get(at..at + length)?.to_vec());
        }
        let least = (usable - 12) * 32 / 255 - 23;
        let even = least + (length - least) % (usable - 4);
        let local = if even <= most { even } else { least };
        let mut payload = page.get(at..at + local)?.to_vec();
        let mut next = u32_at(page, at + local);
        while payload.len() < length {
            let more = self.page(next)?;
            let wanted = (length - payload.len()).min(usable - 4);
            payload.extend_from_slice(more.get(4..4 + wanted)?);
            next = u32_at(&more, 0);
        }
        Some(payload)
    }
}

/// Returns where the header of a page begins: the first has that of the file before it.
fn start_of(number: u32) -> usize {
    if number == 1 { 100 } else { 0 }
}

fn kind_of(page: &[u8], start: usize) -> Option<PageKind> {
    match page.get(start)? {
        2 => Some(PageKind::IndexInterior),
        5 => Some(PageKind::TableInterior),
        10 => Some(PageKind::IndexLeaf),
        13 => Some(PageKind::TableLeaf),
        _ => None,
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

/// Returns a page's number; 0, which none has, where there is no room for it.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..at + 4) {
        Some(bytes) => u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        None => 0,
    }
}

fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0_u64;
    for place in 0..9 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if place == 8 {
            return Some(number << 8 | u64::from(byte));
        }
        number = number << 7 | u64::from(byte & 0x7F);
        if byte < 0x80 {
            break;
        }
    }
    Some(number)
}

/// Returns the values of a record; nothing where it is none.
fn values(payload: &[u8]) -> Option<Vec<Value>> {
    let mut at = 0;
    let header = usize::try_from(varint(payload, &mut at)?).ok()?;
    let mut body = header;
    let mut values = Vec::new();
    while at < header {
        values.push(value(payload, varint(payload, &mut at)?, &mut body)?);
    }
    (at == header && body == payload.len()).then_some(values)
}

fn value(payload: &[u8], kind: u64, at: &mut usize) -> Option<Value> {
    let length = match kind {
        0 | 8 | 9 => 0,
        1..=4 => usize::try_from(kind).ok()?,
        5 => 6,
        6 | 7 => 8,
        10 | 11 => return None,
        long => usize::try_from((long - 12) / 2).ok()?,
    };
    let bytes = payload.get(*at..at.checked_add(length)?)?;
    *at += length;
    Some(match kind {
        0 => Value::Null,
        1..=6 => {
            let negative = bytes.first().is_some_and(|byte| *byte >= 0x80);
            let begin = if negative { -1 } else { 0 };
            Value::Integer(
                bytes
                    .iter()
                    .fold(begin, |number, byte| number << 8 | i64::from(*byte)),
            )
        }
        7 => Value::Real(f64::from_be_bytes(bytes.try_into().ok()?)),
        8 => Value::Integer(0),
        9 => Value::Integer(1),
        even if even % 2 == 0 => Value::Blob(bytes.to_vec()),
        _odd => Value::Text(String::from_utf8(bytes.to_vec()).ok()?),
    })
}
