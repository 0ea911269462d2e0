//! What follows from what was read: a finding for each thing looked at.

use std::collections::BTreeMap;

use lapwing_model::text::joined;
use lapwing_stats::{DrawPath, as_f64};

use super::super::Environment;
use super::super::local::{Abilities, Ability, IsolationPart};
use super::{ClockQuality, DoctorFinding, MachineNoise, MachineReadings, Severity};

/// Everything that the doctor knows.
#[derive(Debug, Clone)]
pub(super) struct DoctorEvidence {
    pub(super) environment: Environment,
    pub(super) readings: MachineReadings,
    pub(super) noise: Option<MachineNoise>,
    /// Share of processor time stolen during the noise sample.
    pub(super) steal: Option<f64>,
    /// Processors that others kept busy during the noise sample.
    pub(super) other_load: Option<f64>,
    pub(super) clock: ClockQuality,
    pub(super) abilities: Abilities,
}

/// More than this share of one processor taken by others is worth a word.
const OTHER_LOAD: f64 = 0.2;
/// More than this load per processor means that somebody was at work just now.
const LOAD_PER_CPU: f64 = 0.25;
/// More than this share of time waited or stolen is worth a word.
const WAITING: f64 = 0.05;
const STEAL: f64 = 0.01;
/// Less free space than this may not last for a long session.
const FREE_DISK: u64 = 1 << 30;
/// A swapped-out page or two is every machine's lot.
const SWAP_USED: u64 = 64 << 20;

/// Returns a finding for each thing that was looked at.
pub(super) fn findings(evidence: &DoctorEvidence) -> Vec<DoctorFinding> {
    let DoctorEvidence {
        environment,
        readings,
        noise,
        abilities,
        ..
    } = evidence;
    let mut all = vec![noise_finding(*noise), load(evidence), pressure(readings)];
    all.extend(steal(evidence));
    all.push(governor(environment));
    all.extend(turbo(environment));
    all.extend(smt(environment));
    all.extend(battery(readings));
    all.push(virtualisation(environment));
    all.extend(container(environment));
    all.push(swap(readings));
    all.push(clock(environment, evidence.clock));
    all.extend(address_randomisation(environment));
    all.extend(disk(readings));
    all.extend(counting(abilities));
    all.extend(isolation(abilities));
    all
}

/// Returns the instructions that `mds` and `plan` simulate with: of no concern to measuring, but to how long these
/// take.
pub(super) fn simulation() -> DoctorFinding {
    let path = DrawPath::of_processor();
    let found = format!("detection rates: {} instructions", path.name());
    match path {
        DrawPath::Avx512 | DrawPath::Avx2 => good("simulation", found),
        DrawPath::Portable => neutral("simulation", found),
    }
}

fn good(subject: &'static str, found: impl Into<String>) -> DoctorFinding {
    DoctorFinding {
        subject,
        severity: Severity::Good,
        found: found.into(),
        advice: None,
        values: BTreeMap::new(),
    }
}

fn neutral(subject: &'static str, found: impl Into<String>) -> DoctorFinding {
    DoctorFinding {
        severity: Severity::Neutral,
        ..good(subject, found)
    }
}

fn disturbing(subject: &'static str, found: impl Into<String>, advice: &str) -> DoctorFinding {
    DoctorFinding {
        severity: Severity::Disturbing,
        ..advised(good(subject, found), advice)
    }
}

fn advised(finding: DoctorFinding, advice: &str) -> DoctorFinding {
    DoctorFinding {
        advice: Some(advice.to_owned()),
        ..finding
    }
}

impl DoctorFinding {
    /// Returns the finding as one that disturbs, with advice, if it does.
    fn disturbing_if(self, disturbs: bool, advice: &str) -> Self {
        if disturbs {
            Self {
                severity: Severity::Disturbing,
                ..advised(self, advice)
            }
        } else {
            self
        }
    }

    /// Adds a number of the finding.
    fn with(mut self, name: &'static str, value: f64) -> Self {
        self.values.insert(name, value);
        self
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn gigabytes(bytes: u64) -> String {
    let gigabytes = as_f64(bytes) / f64::from(1 << 30);
    format!("{gigabytes:.1} GiB")
}

fn noise_finding(noise: Option<MachineNoise>) -> DoctorFinding {
    let Some(noise) = noise else {
        return neutral("noise", "the noise sample could not be executed");
    };
    let found = format!(
        "{} times the same {:.1} ms of computing: spread {}, slowest {:.2} × the median",
        noise.executions,
        noise.median * 1e3,
        percent(noise.spread),
        noise.slowest,
    );
    let advice = "fix the other problems first; then add instances";
    good("noise", found)
        .with("executions", as_f64(noise.executions))
        .with("median", noise.median)
        .with("spread", noise.spread)
        .with("slowest", noise.slowest)
        .disturbing_if(noise.spread > WAITING, advice)
}

fn load(evidence: &DoctorEvidence) -> DoctorFinding {
    let mut readings: Vec<(String, bool)> = Vec::new();
    if let Some(others) = evidence.other_load {
        let found = format!("other programs kept {others:.1} CPUs busy just now");
        readings.push((found, others > OTHER_LOAD));
    }
    if let Some(load) = evidence.readings.load {
        let cpus = evidence.environment.cpus.unwrap_or(1).max(1);
        let found = format!("load {load:.2} on {cpus} CPUs in the last minute");
        readings.push((found, load / as_f64(cpus) > LOAD_PER_CPU));
    }
    if readings.is_empty() {
        return neutral("load", "the kernel does not say its load");
    }
    let too_much = readings.iter().any(|(_, too_much)| *too_much);
    // A reading that is fine explains no warning.
    readings.retain(|(_, is_cause)| *is_cause == too_much);
    let found: Vec<String> = readings.into_iter().map(|(found, _)| found).collect();
    let advice = "stop what else is running (see `top`), or wait until it is done";
    let mut finding = good("load", found.join("; "));
    let cpus = evidence.environment.cpus.map(as_f64);
    let values = [
        ("other_load", evidence.other_load),
        ("load", evidence.readings.load),
        ("cpus", cpus),
    ];
    let known = values
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    finding.values.extend(known);
    finding.disturbing_if(too_much, advice)
}

fn pressure(readings: &MachineReadings) -> DoctorFinding {
    if readings.pressure.is_empty() {
        return advised(
            neutral("pressure", "the kernel does not count pressure"),
            "boot with `psi=1` to have it recorded around each instance",
        );
    }
    let shares = readings.pressure.iter();
    let is_waiting = shares.clone().any(|(_, share)| *share > WAITING);
    let values = shares
        .clone()
        .map(|(name, share)| (*name, *share))
        .collect();
    let shares = joined(shares.map(|(name, share)| format!("{name} {}", percent(*share))));
    let advice = "something else competes for it; find and stop it, or wait";
    let finding = DoctorFinding {
        values,
        ..good("pressure", format!("waiting in the last 10 s: {shares}"))
    };
    finding
        .with("seconds", 10.0)
        .disturbing_if(is_waiting, advice)
}

fn steal(evidence: &DoctorEvidence) -> Option<DoctorFinding> {
    let share = evidence.steal?;
    let percent = percent(share);
    let found = format!("{percent} of the CPUs' time was taken by the hypervisor");
    let advice = "the host is overbooked: take a dedicated machine, or spread instances over time";
    let finding = good("steal", found).with("share", share);
    Some(finding.disturbing_if(share > STEAL, advice))
}

fn governor(environment: &Environment) -> DoctorFinding {
    match environment.governor.as_deref() {
        None => neutral("governor", "no frequency governor is visible"),
        Some("performance") => good("governor", "governor is performance"),
        Some(other) => disturbing(
            "governor",
            format!("governor is {other}"),
            "`cpupower frequency-set -g performance`",
        ),
    }
}

fn turbo(environment: &Environment) -> Option<DoctorFinding> {
    Some(if environment.turbo? {
        let driver = environment.frequency_driver.as_deref().unwrap_or_default();
        let advice = if driver.starts_with("intel") {
            "`echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo`"
        } else {
            "`echo 0 > /sys/devices/system/cpu/cpufreq/boost`"
        };
        disturbing(
            "turbo",
            "turbo is on: speed depends on temperature and on the other cores",
            advice,
        )
    } else {
        good("turbo", "turbo is off")
    })
}

fn smt(environment: &Environment) -> Option<DoctorFinding> {
    Some(if environment.smt? {
        advised(
            neutral("smt", "hardware threads share cores"),
            "pin with `--cpus` to one thread of each core",
        )
    } else {
        good("smt", "each core runs one hardware thread")
    })
}

fn battery(readings: &MachineReadings) -> Option<DoctorFinding> {
    Some(if readings.on_battery? {
        disturbing("battery", "the machine runs on its battery", "plug it in")
    } else {
        good("battery", "the battery is not being used")
    })
}

fn virtualisation(environment: &Environment) -> DoctorFinding {
    match &environment.virtualisation {
        None => good("virtualisation", "no sign of a virtual machine"),
        Some(kind) => advised(
            neutral("virtualisation", format!("a virtual machine ({kind})")),
            "neighbours can disturb: use more instances over a longer time",
        ),
    }
}

fn container(environment: &Environment) -> Option<DoctorFinding> {
    let kind = environment.container.as_ref()?;
    Some(neutral("container", format!("a container ({kind})")))
}

fn swap(readings: &MachineReadings) -> DoctorFinding {
    match readings.swap_used {
        None => neutral("swap", "the kernel does not say its use of swap"),
        Some(used) if used > SWAP_USED => disturbing(
            "swap",
            format!("{} of swap is in use", gigabytes(used)),
            "free memory, then `swapoff -a && swapon -a`",
        )
        .with("bytes", as_f64(used)),
        Some(_) => good("swap", "no swap is in use"),
    }
}

fn clock(environment: &Environment, quality: ClockQuality) -> DoctorFinding {
    let source = environment.clock_source.as_deref();
    let found = format!(
        "{}: resolution {:.0} ns, {:.0} ns per reading",
        source.unwrap_or("the clock"),
        quality.resolution * 1e9,
        quality.cost * 1e9,
    );
    let slow = matches!(
        source,
        Some("hpet" | "acpi_pm" | "jiffies" | "refined-jiffies")
    );
    let advice = "see `dmesg | grep -i tsc` for why the CPU's own clock is not used";
    good("clock", found)
        .with("resolution", quality.resolution)
        .with("cost", quality.cost)
        .disturbing_if(slow || quality.cost > 1e-6, advice)
}

fn address_randomisation(environment: &Environment) -> Option<DoctorFinding> {
    let subject = "address_randomisation";
    Some(if environment.address_randomisation? == 0 {
        advised(
            neutral(subject, "addresses are not randomised"),
            "every execution has the same layout by chance; randomised, the average is fairer: \
             `sysctl kernel.randomize_va_space=2`",
        )
    } else {
        let found = "addresses are randomised, so that no layout is favoured";
        good(subject, found)
    })
}

fn disk(readings: &MachineReadings) -> Option<DoctorFinding> {
    let free = readings.free_disk?;
    let found = format!("{} free for the store", gigabytes(free));
    let advice = "make room, or name another place with `--store`";
    let finding = good("disk", found).with("bytes", as_f64(free));
    Some(finding.disturbing_if(free < FREE_DISK, advice))
}

fn counting(abilities: &Abilities) -> [DoctorFinding; 4] {
    let floor = as_f64(abilities.peak_memory_floor) / 1e6;
    let finding = |subject, ability: &Ability| match ability {
        Ability::Available(means) => good(subject, format!("counted by {means}")),
        Ability::Unavailable(reason) => neutral(subject, format!("not counted: {reason}")),
    };
    [
        good("peak_memory", format!("measurable above {floor:.1} MB"))
            .with("bytes", as_f64(abilities.peak_memory_floor)),
        finding("cgroup_peak_memory", &abilities.cgroup_peak_memory),
        finding("instructions", &abilities.instructions),
        finding("cycles", &abilities.cycles),
    ]
}

/// Returns what `--isolate` keeps from commands here.
fn isolation(abilities: &Abilities) -> Vec<DoctorFinding> {
    let parts = abilities.isolation.iter();
    let finding = |(part, ability): (&IsolationPart, &Ability)| {
        let subject = match part {
            IsolationPart::Files => "isolation_files",
            IsolationPart::Processes => "isolation_processes",
            IsolationPart::Network => "isolation_network",
            IsolationPart::Memory => "isolation_memory",
            IsolationPart::ProcessCount => "isolation_process_count",
        };
        let text = part.text();
        match ability {
            Ability::Available(means) => {
                good(subject, format!("--isolate holds for {text}: {means}"))
            }
            Ability::Unavailable(reason) => neutral(
                subject,
                format!("--isolate does not hold for {text}: {reason}"),
            ),
        }
    };
    parts.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet() -> DoctorEvidence {
        DoctorEvidence {
            environment: Environment {
                cpus: Some(4),
                governor: Some("performance".to_owned()),
                turbo: Some(false),
                smt: Some(false),
                clock_source: Some("tsc".to_owned()),
                address_randomisation: Some(2),
                ..Environment::default()
            },
            readings: MachineReadings {
                load: Some(0.1),
                pressure: vec![("cpu", 0.0)],
                swap_used: Some(0),
                on_battery: Some(false),
                free_disk: Some(50 << 30),
            },
            noise: Some(MachineNoise {
                executions: 50,
                median: 0.01,
                spread: 0.01,
                slowest: 1.05,
                detectable: 0.012,
            }),
            steal: Some(0.0),
            other_load: Some(0.05),
            clock: ClockQuality {
                resolution: 2e-8,
                cost: 2e-8,
            },
            abilities: Abilities {
                peak_memory_floor: 2_500_000,
                cgroup_peak_memory: Ability::Available("control group version 2".to_owned()),
                instructions: Ability::Available("hardware counter".to_owned()),
                cycles: Ability::Available("hardware counter".to_owned()),
                isolation: [(
                    IsolationPart::Network,
                    Ability::Available("a namespace".to_owned()),
                )]
                .into(),
            },
        }
    }

    fn subjects(findings: &[DoctorFinding], severity: Severity) -> Vec<&'static str> {
        let chosen = findings.iter().filter(|it| it.severity == severity);
        chosen.map(|it| it.subject).collect()
    }

    #[test]
    fn a_quiet_machine_is_good_in_every_respect() {
        let found = findings(&quiet());
        assert_eq!(subjects(&found, Severity::Good).len(), found.len());
    }

    #[test]
    fn everything_that_disturbs_is_named_with_what_to_do() {
        let mut evidence = quiet();
        evidence.environment.governor = Some("powersave".to_owned());
        evidence.environment.turbo = Some(true);
        evidence.environment.frequency_driver = Some("intel_pstate".to_owned());
        evidence.environment.clock_source = Some("hpet".to_owned());
        evidence.readings = MachineReadings {
            load: Some(1.2),
            pressure: vec![("cpu", 0.0), ("io", 0.2)],
            swap_used: Some(1 << 30),
            on_battery: Some(true),
            free_disk: Some(1 << 20),
        };
        evidence.steal = Some(0.03);
        evidence.noise = evidence.noise.map(|noise| MachineNoise {
            spread: 0.2,
            ..noise
        });
        let found = findings(&evidence);
        assert_eq!(
            subjects(&found, Severity::Disturbing),
            [
                "noise", "load", "pressure", "steal", "governor", "turbo", "battery", "swap",
                "clock", "disk"
            ]
        );
        let without_advice = found
            .iter()
            .filter(|it| it.severity == Severity::Disturbing && it.advice.is_none());
        assert_eq!(without_advice.count(), 0);
        let advice: Vec<&str> = found
            .iter()
            .filter(|it| ["governor", "turbo"].contains(&it.subject))
            .filter_map(|it| it.advice.as_deref())
            .collect();
        assert_eq!(
            advice,
            [
                "`cpupower frequency-set -g performance`",
                "`echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo`"
            ]
        );
    }

    #[test]
    fn what_is_not_known_is_neither_good_nor_bad() {
        let evidence = DoctorEvidence {
            environment: Environment {
                virtualisation: Some("kvm".to_owned()),
                smt: Some(true),
                ..Environment::default()
            },
            readings: MachineReadings::default(),
            noise: None,
            steal: None,
            other_load: None,
            abilities: Abilities {
                instructions: Ability::Unavailable("no counters".to_owned()),
                ..quiet().abilities
            },
            ..quiet()
        };
        let found = findings(&evidence);
        assert_eq!(
            subjects(&found, Severity::Neutral),
            [
                "noise",
                "load",
                "pressure",
                "governor",
                "smt",
                "virtualisation",
                "swap",
                "instructions"
            ]
        );
        assert_eq!(subjects(&found, Severity::Disturbing), Vec::<&str>::new());
    }
}
