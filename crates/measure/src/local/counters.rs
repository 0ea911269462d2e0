//! The optional measures: peak memory of a control group, hardware counters.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;

use super::super::ResourceUsage;
use super::abilities::{Abilities, Ability, IsolationPart};
use super::cgroup::{self, MemoryGroup};
use super::sys;

const HARDWARE: u32 = 0;
const CYCLES: u64 = 0;
const INSTRUCTIONS: u64 = 1;

/// Whatever of the optional measures this machine has, or why it has not.
pub(super) struct HardwareCounters {
    memory: Result<MemoryGroup, String>,
    instructions: Result<HardwareCounter, String>,
    cycles: Result<HardwareCounter, String>,
}

impl HardwareCounters {
    /// Finds out what there is, once, and moves this process into a control group
    /// of its own, so that children are born in it.
    pub(super) fn set_up() -> Self {
        Self {
            memory: MemoryGroup::enter().map_err(|error: cgroup::GroupError| error.to_string()),
            instructions: HardwareCounter::open(HARDWARE, INSTRUCTIONS),
            cycles: HardwareCounter::open(HARDWARE, CYCLES),
        }
    }

    /// Says what can be measured, beside what can be isolated.
    pub(super) fn abilities(&self, isolation: BTreeMap<IsolationPart, Ability>) -> Abilities {
        let hardware = |counter: &Result<HardwareCounter, String>| match counter {
            Ok(_) => Ability::Available("hardware counter, user mode".to_owned()),
            Err(reason) => Ability::Unavailable(reason.clone()),
        };
        Abilities {
            peak_memory_floor: peak_memory_floor(),
            cgroup_peak_memory: match &self.memory {
                Ok(group) => Ability::Available(group.means().to_owned()),
                Err(reason) => Ability::Unavailable(reason.clone()),
            },
            instructions: hardware(&self.instructions),
            cycles: hardware(&self.cycles),
            isolation,
        }
    }

    /// Returns the control group, or why there is none.
    pub(super) fn memory_group(&self) -> Result<&MemoryGroup, &str> {
        self.memory.as_ref().map_err(String::as_str)
    }

    /// Begins anew, just before a child is started.
    pub(super) fn reset(&mut self) {
        if let Ok(memory) = &mut self.memory
            && let Err(error) = memory.reset_peak()
        {
            self.memory = Err(format!("the peak cannot be reset: {error}"));
        }
        let counters = [&mut self.instructions, &mut self.cycles];
        for counter in counters.into_iter().flatten() {
            counter.start = counter.read().unwrap_or_default();
        }
    }

    /// Fills in what was counted since the reset.
    pub(super) fn read_into(&self, usage: &mut ResourceUsage) {
        let memory = self.memory.as_ref().ok();
        usage.cgroup_peak_memory = memory.and_then(|memory| memory.peak().ok());
        usage.instructions = counted(&self.instructions);
        usage.cycles = counted(&self.cycles);
    }
}

/// The smallest peak memory that is reported: 4 MiB. The launcher itself needs about 2.5 MB.
const LEAST_FLOOR: u64 = 4 << 20;

/// Returns the peak memory that is reported for commands that need less, in bytes.
///
/// The kernel reports at least the launcher's own size for them, which differs a little from one session to the
/// next and would be compared as if it were the program's. The next power of two above it is always the same.
pub(super) fn peak_memory_floor() -> u64 {
    // The kernel's counters of resident pages lag behind by some pages per processor.
    let own = own_peak_memory();
    (own + own / 4).next_power_of_two().max(LEAST_FLOOR)
}

/// Returns the largest resident set that this process ever had, in bytes; 0 when the
/// kernel does not say.
fn own_peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

fn counted(counter: &Result<HardwareCounter, String>) -> Option<u64> {
    let counter = counter.as_ref().ok()?;
    counter.start.until(counter.read().ok()?)
}

/// A counter of the kernel that counts children from their exec on.
struct HardwareCounter {
    descriptor: OwnedFd,
    start: CounterReading,
}

impl HardwareCounter {
    fn open(kind: u32, config: u64) -> Result<Self, String> {
        let descriptor = sys::open_counter(kind, config).map_err(|error| why_not(&error))?;
        Ok(Self {
            descriptor,
            start: CounterReading::default(),
        })
    }

    fn read(&self) -> io::Result<CounterReading> {
        let mut bytes = [0; 24];
        let length = rustix::io::read(&self.descriptor, &mut bytes)?;
        if length != bytes.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut numbers = bytes.chunks_exact(8).map(|chunk| {
            let mut number = [0; 8];
            number.copy_from_slice(chunk);
            u64::from_ne_bytes(number)
        });
        Ok(CounterReading {
            count: numbers.next().unwrap_or(0),
            enabled: numbers.next().unwrap_or(0),
            running: numbers.next().unwrap_or(0),
        })
    }
}

/// What a counter says: it may have run during a part of the time only, when there
/// are more counters than the processor has registers.
#[derive(Debug, Clone, Copy, Default)]
struct CounterReading {
    count: u64,
    enabled: u64,
    running: u64,
}

impl CounterReading {
    /// Returns the count between two readings, scaled up to the whole time;
    /// `None` when the counter never ran.
    fn until(self, later: Self) -> Option<u64> {
        let count = later.count.checked_sub(self.count)?;
        let enabled = later.enabled.checked_sub(self.enabled)?;
        let running = later.running.checked_sub(self.running)?;
        if running == 0 {
            return None;
        }
        if running == enabled {
            return Some(count);
        }
        let scaled = u128::from(count) * u128::from(enabled) / u128::from(running);
        u64::try_from(scaled).ok()
    }
}

fn why_not(error: &io::Error) -> String {
    match rustix::io::Errno::from_io_error(error) {
        Some(
            rustix::io::Errno::NOENT | rustix::io::Errno::NODEV | rustix::io::Errno::OPNOTSUPP,
        ) => "this machine has no hardware counters (virtual machines often have none)".to_owned(),
        Some(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) => {
            "not permitted; kernel.perf_event_paranoid must be 2 or less, and a container must \
             allow perf_event_open"
                .to_owned()
        }
        Some(rustix::io::Errno::NOSYS) => "this kernel was built without perf events".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const SOFTWARE: u32 = 1;
    const TASK_CLOCK: u64 = 1;

    #[test]
    fn a_counter_counts_children_and_not_this_process() {
        let counter =
            HardwareCounter::open(SOFTWARE, TASK_CLOCK).expect("software counters need no PMU");
        let mut burnt = 0_u64;
        for number in 0..10_000_000_u64 {
            burnt = std::hint::black_box(burnt ^ number);
        }
        assert_eq!(counter.read().expect("readable").count, 0, "{burnt}");
        let loops = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        for program in [loops.to_owned(), format!("sh -c '{loops}'; true")] {
            // On a busy machine the kernel sometimes moves an inherited count to another
            // task's context, and then there is none: unavailable, never wrong.
            let counted = (0..20).find_map(|_again| nanoseconds_of(&program));
            assert!(counted > Some(1_000_000), "{program}: {counted:?}");
        }
    }

    fn nanoseconds_of(program: &str) -> Option<u64> {
        let counter =
            HardwareCounter::open(SOFTWARE, TASK_CLOCK).expect("software counters need no PMU");
        let before = counter.read().expect("readable");
        let status = Command::new("sh").args(["-c", program]).status();
        assert!(status.expect("sh starts").success());
        before.until(counter.read().expect("readable"))
    }

    #[test]
    fn a_count_is_scaled_to_the_time_that_the_counter_missed() {
        let start = CounterReading {
            count: 10,
            enabled: 100,
            running: 100,
        };
        let whole = CounterReading {
            count: 30,
            enabled: 200,
            running: 200,
        };
        let half = CounterReading {
            count: 30,
            enabled: 200,
            running: 150,
        };
        let never = CounterReading {
            count: 10,
            enabled: 200,
            running: 100,
        };
        assert_eq!(start.until(whole), Some(20));
        assert_eq!(start.until(half), Some(40));
        assert_eq!(start.until(never), None);
    }
}
