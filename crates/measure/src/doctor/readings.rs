//! What the machine is doing at the moment.

use std::fs;
use std::path::Path;

use super::super::machine::environment::kilobytes;
use super::super::machine::observe::PRESSURES;

/// The machine's state, as far as it says it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MachineReadings {
    /// Load average of the last minute.
    pub load: Option<f64>,
    /// Share of the last ten seconds during which some task waited, by resource;
    /// empty where the kernel does not count pressure.
    pub pressure: Vec<(&'static str, f64)>,
    /// Bytes of swap in use.
    pub swap_used: Option<u64>,
    /// Whether a battery is being discharged; `None` without a battery.
    pub on_battery: Option<bool>,
    /// Free bytes where the store is or will be.
    pub free_disk: Option<u64>,
}

impl MachineReadings {
    /// Reads the files below `root`, which is `/` for this machine, and asks for the
    /// free space of the file system that holds (or will hold) `store`.
    pub fn take(root: &Path, store: &Path) -> Self {
        let text = |path: &str| fs::read_to_string(root.join(path)).ok();
        let pressure = PRESSURES.into_iter().filter_map(|name| {
            let share = recent_stall(&text(&format!("proc/pressure/{name}"))?)?;
            Some((name, share))
        });
        Self {
            load: text("proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok()),
            pressure: pressure.collect(),
            swap_used: text("proc/meminfo").and_then(|text| swap_used(&text)),
            on_battery: on_battery(&root.join("sys/class/power_supply")),
            free_disk: free_disk(store),
        }
    }
}

/// Reads `some avg10=1.25 …` as a share.
fn recent_stall(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let (_, rest) = line.split_once("avg10=")?;
    let percent: f64 = rest.split(' ').next()?.parse().ok()?;
    Some(percent / 100.0)
}

fn swap_used(meminfo: &str) -> Option<u64> {
    kilobytes(meminfo, "SwapTotal")?.checked_sub(kilobytes(meminfo, "SwapFree")?)
}

fn on_battery(supplies: &Path) -> Option<bool> {
    let mut found = None;
    for supply in fs::read_dir(supplies).ok()?.flatten() {
        let says = |name: &str| {
            let text = fs::read_to_string(supply.path().join(name)).unwrap_or_default();
            text.trim().to_owned()
        };
        // The battery of a mouse has the scope `Device`.
        if says("type") == "Battery" && says("scope") != "Device" {
            let discharging = says("status") == "Discharging";
            found = Some(found.unwrap_or(false) || discharging);
        }
    }
    found
}

fn free_disk(store: &Path) -> Option<u64> {
    let absolute = std::path::absolute(store).ok()?;
    let existing = absolute.ancestors().find(|path| path.exists())?;
    let space = rustix::fs::statvfs(existing).ok()?;
    space.f_bavail.checked_mul(space.f_frsize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_laptop_under_pressure_is_read() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        write("proc/loadavg", "1.50 0.1 0.1 1/99 7\n");
        write("proc/meminfo", "SwapTotal: 1000 kB\nSwapFree:   400 kB\n");
        write(
            "proc/pressure/io",
            "some avg10=12.50 avg60=0.00 avg300=0.00 total=5\nfull avg10=1.00\n",
        );
        write("sys/class/power_supply/AC/type", "Mains\n");
        write("sys/class/power_supply/BAT0/type", "Battery\n");
        write("sys/class/power_supply/BAT0/status", "Discharging\n");
        let mut found = MachineReadings::take(root.path(), &root.path().join("not/there/yet"));
        assert!(found.free_disk.take() > Some(0));
        let expected = MachineReadings {
            load: Some(1.5),
            pressure: vec![("io", 0.125)],
            swap_used: Some(600 * 1024),
            on_battery: Some(true),
            free_disk: None,
        };
        assert_eq!(found, expected);
    }
}
