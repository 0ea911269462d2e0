//! Description of the machine, observed and not chosen, recorded with every run.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::Serialize;

use super::super::local::parse_cpus;
use super::hardware::{os_release, without_unknown};
use lapwing_model::Object;

/// A machine as its kernel describes it. Unknown properties are `None`.
///
/// The names of the fields are the keys in a run's `environment`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Environment {
    /// Host name.
    pub host: Option<String>,
    /// Model of the processor, as it names itself.
    pub cpu_model: Option<String>,
    /// Processors that the kernel schedules on (hardware threads).
    pub cpus: Option<usize>,
    /// Physical cores.
    pub cores: Option<usize>,
    /// Processor packages.
    pub sockets: Option<usize>,
    /// Whether cores run several hardware threads at the moment.
    pub smt: Option<bool>,
    /// Frequency governor; several separated by commas when processors differ.
    pub governor: Option<String>,
    /// Driver that sets the frequency.
    pub frequency_driver: Option<String>,
    /// Whether the processor may exceed its nominal frequency.
    pub turbo: Option<bool>,
    /// Main memory in bytes.
    pub memory: Option<u64>,
    /// Swap space in bytes.
    pub swap: Option<u64>,
    /// When memory is given in huge pages unasked: `always`, `madvise` or `never`.
    pub huge_pages: Option<String>,
    /// Release of the kernel.
    pub kernel: Option<String>,
    /// Instruction set.
    pub architecture: Option<String>,
    /// Operating system, as it names itself.
    pub os: Option<String>,
    /// Kind of virtual machine, where there are signs of one.
    pub virtualisation: Option<String>,
    /// Kind of container, where there are signs of one.
    pub container: Option<String>,
    /// What the kernel's clocks are read from.
    pub clock_source: Option<String>,
    /// How far addresses are randomised: 0 not, 1 in part, 2 fully.
    pub address_randomisation: Option<u64>,
}

impl Environment {
    /// Reads what the files below `root` say, which is `/` for this machine.
    pub fn read(root: &Path) -> Self {
        let files = KernelFiles { root };
        let cpuinfo = files.text("proc/cpuinfo").unwrap_or_default();
        let meminfo = files.text("proc/meminfo").unwrap_or_default();
        let topology = files.topology();
        Self {
            host: files.line("proc/sys/kernel/hostname"),
            cpu_model: field(&cpuinfo, "model name").or_else(|| field(&cpuinfo, "Model")),
            cpus: topology.cpus,
            cores: topology.cores,
            sockets: topology.sockets,
            smt: files.switch("sys/devices/system/cpu/smt/active"),
            governor: files.of_each_cpu("cpufreq/scaling_governor"),
            frequency_driver: files.of_each_cpu("cpufreq/scaling_driver"),
            turbo: files
                .switch("sys/devices/system/cpu/intel_pstate/no_turbo")
                .map(|off| !off)
                .or_else(|| files.switch("sys/devices/system/cpu/cpufreq/boost")),
            memory: kilobytes(&meminfo, "MemTotal"),
            swap: kilobytes(&meminfo, "SwapTotal"),
            huge_pages: files
                .line("sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|line| bracketed(&line)),
            kernel: files.line("proc/sys/kernel/osrelease"),
            architecture: Some(std::env::consts::ARCH.to_owned()),
            os: os_release(root)
                .get("pretty_name")
                .and_then(|name| Some(name.as_str()?.to_owned())),
            virtualisation: files.virtualisation(&cpuinfo),
            container: files.container(),
            clock_source: files
                .line("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            address_randomisation: files
                .line("proc/sys/kernel/randomize_va_space")
                .and_then(|line| line.parse().ok()),
        }
    }

    /// Returns the description as it stands in a run's `environment`.
    pub fn into_object(self) -> Object {
        // Texts, numbers and truth values always have a JSON form.
        without_unknown(serde_json::to_value(self).unwrap_or_default())
    }
}

/// The kernel's files, below some root.
struct KernelFiles<'a> {
    root: &'a Path,
}

#[derive(Default)]
struct CpuTopology {
    cpus: Option<usize>,
    cores: Option<usize>,
    sockets: Option<usize>,
}

impl KernelFiles<'_> {
    fn text(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.root.join(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    fn switch(&self, path: &str) -> Option<bool> {
        match &*self.line(path)? {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }
    }

    fn is_there(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    fn online(&self) -> Option<Vec<usize>> {
        parse_cpus(&self.line("sys/devices/system/cpu/online")?).ok()
    }

    fn topology(&self) -> CpuTopology {
        let Some(online) = self.online() else {
            return CpuTopology::default();
        };
        let mut cores = BTreeSet::new();
        let mut sockets = BTreeSet::new();
        for cpu in &online {
            let of_cpu =
                |name| self.line(&format!("sys/devices/system/cpu/cpu{cpu}/topology/{name}"));
            if let (Some(socket), Some(core)) = (of_cpu("physical_package_id"), of_cpu("core_id")) {
                cores.insert((socket.clone(), core));
                sockets.insert(socket);
            }
        }
        let known = |count: usize| (count > 0).then_some(count);
        CpuTopology {
            cpus: Some(online.len()),
            cores: known(cores.len()),
            sockets: known(sockets.len()),
        }
    }

    /// Returns what a file of each processor says, each different text once.
    fn of_each_cpu(&self, file: &str) -> Option<String> {
        let line = |cpu: usize| self.line(&format!("sys/devices/system/cpu/cpu{cpu}/{file}"));
        let mut texts: Vec<String> = self.online()?.into_iter().filter_map(line).collect();
        texts.sort_unstable();
        texts.dedup();
        (!texts.is_empty()).then(|| texts.join(","))
    }

    fn virtualisation(&self, cpuinfo: &str) -> Option<String> {
        let product = self.line("sys/class/dmi/id/product_name");
        let vendor = self.line("sys/class/dmi/id/sys_vendor");
        let firmware = [vendor, product].map(Option::unwrap_or_default).join(" ");
        let known = [
            ("KVM", "kvm"),
            ("QEMU", "kvm"),
            ("Google Compute Engine", "google"),
            ("Amazon EC2", "amazon"),
            ("VMware", "vmware"),
            ("VirtualBox", "virtualbox"),
            ("Virtual Machine", "hyper-v"),
            ("OpenStack", "openstack"),
            ("Xen", "xen"),
            ("Parallels", "parallels"),
        ];
        let named = known
            .iter()
            .find(|(sign, _)| firmware.contains(sign))
            .map(|(_, name)| (*name).to_owned());
        // The processor says so itself, whatever the firmware pretends.
        let hypervisor = field(cpuinfo, "flags")
            .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
        // The firmware of a cloud's bare machine names the cloud too.
        let is_x86 = field(cpuinfo, "flags").is_some();
        match (named, hypervisor) {
            (Some(_), false) if is_x86 => None,
            (Some(name), _) => Some(name),
            (None, true) => Some("unknown hypervisor".to_owned()),
            (None, false) => self.line("sys/hypervisor/type"),
        }
    }

    fn container(&self) -> Option<String> {
        if self.is_there(".dockerenv") {
            return Some("docker".to_owned());
        }
        if self.is_there("run/.containerenv") {
            return Some("podman".to_owned());
        }
        if let Some(name) = self.line("run/systemd/container") {
            return Some(name);
        }
        let environment = self.text("proc/1/environ").unwrap_or_default();
        environment
            .split('\0')
            .find_map(|variable| variable.strip_prefix("container="))
            .map(str::to_owned)
    }
}

/// Returns the value of the first line `name : value`.
pub(super) fn field(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

/// Returns the bytes of a line `name: 12 kB`.
pub(crate) fn kilobytes(meminfo: &str, name: &str) -> Option<u64> {
    let value = field(meminfo, name)?;
    let number: u64 = value.strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

/// Returns the chosen one of `always [madvise] never`.
fn bracketed(line: &str) -> Option<String> {
    let (_, rest) = line.split_once('[')?;
    let (chosen, _) = rest.split_once(']')?;
    Some(chosen.to_owned())
}

/// Returns the processors that the kernel leaves to programs which ask for them, such as `2-3`; `None` without any.
pub fn isolated_cpus(root: &Path) -> Option<String> {
    let text = std::fs::read_to_string(root.join("sys/devices/system/cpu/isolated")).ok()?;
    let cpus = text.trim();
    (!cpus.is_empty()).then(|| cpus.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
    }

    #[test]
    fn a_laptop_is_described() {
        let root = tempfile::tempdir().expect("a folder");
        let cpu = "sys/devices/system/cpu";
        write(
            root.path(),
            &[
                ("proc/sys/kernel/hostname", "heron\n"),
                ("proc/sys/kernel/osrelease", "6.12.9-amd64\n"),
                ("proc/sys/kernel/randomize_va_space", "2\n"),
                (
                    "proc/cpuinfo",
                    "processor\t: 0\nmodel name\t: Some CPU 5000\nflags\t\t: fpu vme\n\n",
                ),
                (
                    "proc/meminfo",
                    "MemTotal:       16000 kB\nSwapTotal:          0 kB\n",
                ),
                ("etc/os-release", "NAME=Debian\nPRETTY_NAME=\"Debian 12\"\n"),
                (&format!("{cpu}/online"), "0-3\n"),
                (&format!("{cpu}/smt/active"), "1\n"),
                (&format!("{cpu}/intel_pstate/no_turbo"), "0\n"),
                (
                    &format!("{cpu}/cpu0/cpufreq/scaling_governor"),
                    "powersave\n",
                ),
                (
                    &format!("{cpu}/cpu1/cpufreq/scaling_governor"),
                    "performance\n",
                ),
                (
                    &format!("{cpu}/cpu2/cpufreq/scaling_governor"),
                    "powersave\n",
                ),
                (&format!("{cpu}/cpu0/topology/physical_package_id"), "0\n"),
                (&format!("{cpu}/cpu0/topology/core_id"), "0\n"),
                (&format!("{cpu}/cpu1/topology/physical_package_id"), "0\n"),
                (&format!("{cpu}/cpu1/topology/core_id"), "1\n"),
                (&format!("{cpu}/cpu2/topology/physical_package_id"), "0\n"),
                (&format!("{cpu}/cpu2/topology/core_id"), "0\n"),
                (
                    "sys/kernel/mm/transparent_hugepage/enabled",
                    "always [madvise] never\n",
                ),
                (
                    "sys/devices/system/clocksource/clocksource0/current_clocksource",
                    "tsc\n",
                ),
                ("sys/class/dmi/id/sys_vendor", "LENOVO\n"),
            ],
        );
        let expected = serde_json::json!({
            "address_randomisation": 2,
            "architecture": std::env::consts::ARCH,
            "clock_source": "tsc",
            "cores": 2,
            "cpu_model": "Some CPU 5000",
            "cpus": 4,
            "governor": "performance,powersave",
            "host": "heron",
            "huge_pages": "madvise",
            "kernel": "6.12.9-amd64",
            "memory": 16_384_000,
            "os": "Debian 12",
            "smt": true,
            "sockets": 1,
            "swap": 0,
            "turbo": true,
        });
        let found = Environment::read(root.path()).into_object();
        assert_eq!(serde_json::Value::from(found), expected);
    }

    #[test]
    fn signs_of_virtual_machines_and_containers_are_recognised() {
        let root = tempfile::tempdir().expect("a folder");
        let hypervisor = "flags\t\t: fpu hypervisor\n";
        write(
            root.path(),
            &[("proc/cpuinfo", hypervisor), (".dockerenv", "")],
        );
        let found = Environment::read(root.path());
        assert_eq!(found.virtualisation.as_deref(), Some("unknown hypervisor"));
        assert_eq!(found.container.as_deref(), Some("docker"));
        write(
            root.path(),
            &[("sys/class/dmi/id/sys_vendor", "Amazon EC2")],
        );
        let found = Environment::read(root.path());
        assert_eq!(found.virtualisation.as_deref(), Some("amazon"));
        write(root.path(), &[("proc/cpuinfo", "flags\t\t: fpu\n")]);
        assert_eq!(Environment::read(root.path()).virtualisation, None);
    }

    #[test]
    fn nothing_is_claimed_of_an_unknown_machine() {
        let root = tempfile::tempdir().expect("a folder");
        let expected = Environment {
            architecture: Some(std::env::consts::ARCH.to_owned()),
            ..Environment::default()
        };
        assert_eq!(Environment::read(root.path()), expected);
    }
}
