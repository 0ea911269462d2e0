//! The machine's load, pressure and stolen time around an instance.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use lapwing_model::Object;

/// The machine's running totals at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineSnapshot {
    taken: Instant,
    load: Option<f64>,
    processors: Option<ProcessorTime>,
    /// Microseconds during which some task waited for processors, disks, memory.
    pressure: [Option<f64>; 3],
}

/// The resources of which the kernel counts pressure, in the order of `MachineSnapshot::pressure`.
pub(crate) const PRESSURES: [&str; 3] = ["cpu", "io", "memory"];

/// Time of all processors together, in the kernel's ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ProcessorTime {
    total: f64,
    busy: f64,
    stolen: f64,
    count: f64,
}

impl MachineSnapshot {
    /// Takes a snapshot of the machine whose files are below `root`, which is `/` for
    /// this one. It reads five small files.
    pub fn take(root: &Path) -> Self {
        // Long enough for the lines of some hundreds of processors.
        let mut buffer = [0; 64 << 10];
        let load = read(&root.join("proc/loadavg"), &mut buffer)
            .and_then(|text| text.split(' ').next()?.parse().ok());
        let processors = read(&root.join("proc/stat"), &mut buffer).and_then(processor_time);
        let pressure = PRESSURES.map(|name| {
            let path = root.join("proc/pressure").join(name);
            read(&path, &mut buffer).and_then(stalled)
        });
        Self {
            taken: Instant::now(),
            load,
            processors,
            pressure,
        }
    }

    /// Returns the load average of the last minute, where the kernel says it.
    pub fn load(&self) -> Option<f64> {
        self.load
    }
}

/// Returns what happened on the machine between two snapshots, for an instance's
/// `observed`. What could not be found out is absent.
///
/// | key | meaning |
/// |---|---|
/// | `load_before`, `load_after` | load average of the last minute |
/// | `pressure_cpu`, `pressure_io`, `pressure_memory` | share of the time during which some task waited for it |
/// | `steal` | share of all processors' time that the hypervisor gave to others |
/// | `other_load` | processors kept busy by others than the instance |
///
/// `own` is the processor time that the instance's commands used between the two;
/// without it there is no `other_load`. The kernel counts processor time in ticks of
/// 10 ms, so intervals below 0.3 s have neither `steal` nor `other_load`.
pub fn observed(
    before: &MachineSnapshot,
    after: &MachineSnapshot,
    own: Option<Duration>,
) -> Object {
    let mut object = Object::new();
    let mut insert = |key: &str, value: Option<f64>| {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            // Four digits behind the point are more than the kernel's ticks carry.
            let rounded = (value * 1e4).round() / 1e4;
            object.insert(key.to_owned(), rounded.into());
        }
    };
    let interval = after.taken.saturating_duration_since(before.taken);
    let microseconds = interval.as_secs_f64() * 1e6;
    insert("load_before", before.load);
    insert("load_after", after.load);
    for (index, name) in PRESSURES.iter().enumerate() {
        let share = match (before.pressure[index], after.pressure[index]) {
            (Some(before), Some(after)) if microseconds > 0.0 => {
                Some(((after - before) / microseconds).clamp(0.0, 1.0))
            }
            _ => None,
        };
        insert(&format!("pressure_{name}"), share);
    }
    if let (Some(before), Some(after)) = (before.processors, after.processors) {
        let total = after.total - before.total;
        if total > 0.0 && interval >= LONG_ENOUGH {
            let share = |now: f64, then: f64| ((now - then) / total).clamp(0.0, 1.0);
            insert("steal", Some(share(after.stolen, before.stolen)));
            let busy = share(after.busy, before.busy) * after.count;
            let others = own.map(|own| busy - own.as_secs_f64() / interval.as_secs_f64());
            insert("other_load", others.map(|others| others.max(0.0)));
        }
    }
    object
}

/// Ticks of the kernel are 10 ms: from here on a share is right to a few hundredths.
const LONG_ENOUGH: Duration = Duration::from_millis(300);

/// Reads the beginning of a file, as far as the buffer goes.
fn read<'a>(path: &Path, buffer: &'a mut [u8]) -> Option<&'a str> {
    let length = File::open(path).ok()?.read(buffer).ok()?;
    let bytes = &buffer[..length];
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok(),
    }
}

/// Reads the lines `cpu`, `cpu0`, `cpu1`… of `/proc/stat`.
fn processor_time(text: &str) -> Option<ProcessorTime> {
    let mut lines = text.lines();
    let all = lines.next()?.strip_prefix("cpu ")?;
    let count = lines.take_while(|line| line.starts_with("cpu")).count();
    let fields: Vec<f64> = all
        .split_ascii_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    // user nice system idle iowait irq softirq steal (guest guest_nice, which user and
    // nice hold already)
    let &[
        user,
        nice,
        system,
        idle,
        waiting,
        interrupts,
        soft_interrupts,
        stolen,
        ..,
    ] = &*fields
    else {
        return None;
    };
    let busy = user + nice + system + interrupts + soft_interrupts;
    Some(ProcessorTime {
        total: busy + idle + waiting + stolen,
        busy,
        stolen,
        count: f64::from(u32::try_from(count).ok()?),
    })
}

/// Reads the total of the line `some avg10=… total=…`.
fn stalled(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.rsplit_once("total=")?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn machine(stat: &str, stalled: u32) -> MachineSnapshot {
        let root = tempfile::tempdir().expect("a folder");
        let processes = root.path().join("proc/pressure");
        fs::create_dir_all(&processes).expect("made");
        fs::write(root.path().join("proc/loadavg"), "0.52 0.1 0.1 1/99 7\n").expect("written");
        fs::write(root.path().join("proc/stat"), stat).expect("written");
        let pressure = format!("some avg10=0.00 avg60=0.00 avg300=0.00 total={stalled}\n");
        fs::write(processes.join("cpu"), pressure).expect("written");
        MachineSnapshot::take(root.path())
    }

    #[test]
    fn shares_are_those_of_the_interval() {
        let before = machine(
            "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1\ncpu1 1\nintr 5\n",
            0,
        );
        let mut after = machine(
            "cpu  180 0 70 860 50 0 0 40 7 0\ncpu0 1\ncpu1 1\nintr 6\n",
            250_000,
        );
        after.taken = before.taken + Duration::from_secs(1);
        let found = observed(&before, &after, Some(Duration::from_millis(400)));
        // 100 of 200 ticks of two processors were busy, 0.4 of that by ourselves.
        let expected = serde_json::json!({
            "load_before": 0.52,
            "load_after": 0.52,
            "pressure_cpu": 0.25,
            "steal": 0.2,
            "other_load": 0.6,
        });
        assert_eq!(serde_json::Value::from(found), expected);
    }

    #[test]
    fn nothing_is_claimed_where_nothing_is_said() {
        let root = tempfile::tempdir().expect("a folder");
        let before = MachineSnapshot::take(root.path());
        let after = MachineSnapshot::take(root.path());
        assert_eq!(observed(&before, &after, None), Object::new());
    }

    #[test]
    fn this_machine_has_a_load() {
        assert!(MachineSnapshot::take(Path::new("/")).load().is_some());
    }
}
