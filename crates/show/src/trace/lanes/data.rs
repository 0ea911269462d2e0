//! What the page of a timeline is drawn from.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use lapwing_trace::{Lane, MISSING, TaskWait, Trace, TransferMode};

use super::colours::LaneColours;

/// What the page is drawn from, as whole numbers (LEB128; signed ones zigzag).
pub(super) struct PageData<'t> {
    pub trace: &'t Trace,
    pub lanes: &'t [Lane],
    pub colours: &'t LaneColours,
    /// The tasks that each task waits for.
    pub inputs: &'t [Vec<usize>],
    pub waits: &'t [TaskWait],
    pub start: i64,
    pub unit: i64,
}

impl PageData<'_> {
    /// For each lane its pieces: the time since the end of the one before, the length, the kind, the item as a
    /// difference. Then for each task its name, class, worker, events, time on the CPU (-1 if unknown), inputs and
    /// waits, and for each transfer its dataset, source, target, mode and events; an event is 0, or 1 and the zigzag
    /// difference from the event before.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let at = |time: i64| (time - self.start) / self.unit;
        for lane in self.lanes {
            let (mut before, mut item) = (0, 0);
            for piece in &lane.pieces {
                let (start, end) = (at(piece.start), at(piece.end));
                put_signed(&mut bytes, start - before);
                put_signed(&mut bytes, end - start);
                put_signed(&mut bytes, self.colours.kind(piece.part) as i64);
                put_signed(&mut bytes, piece.item as i64 - item);
                (before, item) = (end, piece.item as i64);
            }
        }
        let mut before = 0;
        let mut events = |bytes: &mut Vec<u8>, events: &[i64]| {
            for time in events {
                if *time == MISSING {
                    bytes.push(0);
                    continue;
                }
                bytes.push(1);
                put_signed(bytes, at(*time) - before);
                before = at(*time);
            }
        };
        for (place, task) in self.trace.tasks.iter().enumerate() {
            for name in [task.name, task.class, task.worker] {
                put_signed(&mut bytes, i64::from(name.0));
            }
            events(&mut bytes, &task.events);
            put_signed(&mut bytes, task.cpu.map_or(-1, |cpu| cpu / self.unit));
            let inputs = self.inputs.get(place).map_or(&[][..], |it| it);
            put_signed(&mut bytes, inputs.len() as i64);
            for input in inputs {
                put_signed(&mut bytes, place as i64 - *input as i64);
            }
            for time in self.waits.get(place).copied().unwrap_or_default().times {
                put_signed(&mut bytes, time / self.unit);
            }
        }
        for transfer in &self.trace.transfers {
            for name in [transfer.dataset, transfer.source, transfer.target] {
                put_signed(&mut bytes, i64::from(name.0));
            }
            let mode = match transfer.mode {
                TransferMode::Unknown => 0,
                TransferMode::Remote => 1,
                TransferMode::Local => 2,
                TransferMode::Redundant => 3,
            };
            put_signed(&mut bytes, mode);
            events(&mut bytes, &transfer.events);
        }
        bytes
    }
}

fn put_signed(bytes: &mut Vec<u8>, number: i64) {
    let mut number = ((number << 1) ^ (number >> 63)).cast_unsigned();
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push((number & 0x7f) as u8);
}

pub(super) fn packed(bytes: &[u8]) -> io::Result<String> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(STANDARD.encode(encoder.finish()?))
}
