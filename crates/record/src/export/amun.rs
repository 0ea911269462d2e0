//! Inspections of Amun: a folder for each indicator of a run, with a document for each execution.

use std::collections::BTreeMap;
use std::io;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value as Json, json};

use super::ExportError;
use crate::{Filter, Store};
use lapwing_model::{
    Benchmark, Id, Instance, InstanceEnd, Iteration, Object, Outcome, Record, Run, Session,
};

/// The format of Amun's times, in UTC.
const TIME: &str = "%Y-%m-%dT%H:%M:%S%.6f";

/// A count of `getrusage`: its name, the metric, and the value of one unit in the unit of the metric.
const USAGE: [(&str, Option<(&str, f64)>); 16] = [
    ("ru_utime", Some(("user_time", 1.0))),
    ("ru_stime", Some(("system_time", 1.0))),
    ("ru_maxrss", Some(("peak_memory", 1024.0))),
    ("ru_ixrss", None),
    ("ru_idrss", None),
    ("ru_isrss", None),
    ("ru_minflt", Some(("minor_faults", 1.0))),
    ("ru_majflt", Some(("major_faults", 1.0))),
    ("ru_nswap", None),
    ("ru_inblock", Some(("block_input", 512.0))),
    ("ru_oublock", Some(("block_output", 512.0))),
    ("ru_msgsnd", None),
    ("ru_msgrcv", None),
    ("ru_nsignals", None),
    ("ru_nvcsw", Some(("voluntary_switches", 1.0))),
    ("ru_nivcsw", Some(("involuntary_switches", 1.0))),
];

/// The numbers of exported records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AmunCounts {
    /// Folders of inspections.
    pub inspections: u64,
    /// Result documents.
    pub results: u64,
}

/// Passes the files of all inspections to `write`, by their paths. Only indicators are exported.
///
/// # Errors
/// When the store cannot be read, an entry of the filter fits nothing, or a file cannot be written.
pub fn export_amun(
    store: &Store,
    filter: &Filter,
    mut write: impl FnMut(&str, &str) -> io::Result<()>,
) -> Result<AmunCounts, ExportError> {
    let mut measured: BTreeMap<Id, MeasuredIndicator> = BTreeMap::new();
    let (mut sessions, mut runs) = (BTreeMap::new(), BTreeMap::new());
    store.scan(filter, |record| {
        match record {
            Record::Session(session) => {
                sessions.insert(session.id, session);
            }
            Record::Run(run) => {
                runs.insert(run.id, run);
            }
            Record::Instance(instance) => {
                let new = MeasuredIndicator {
                    instance,
                    iterations: Vec::new(),
                    end: None,
                };
                measured.insert(new.instance.id, new);
            }
            Record::Iteration(iteration) => {
                if let Some(instance) = measured.get_mut(&iteration.instance) {
                    instance.iterations.push(iteration);
                }
            }
            Record::InstanceEnd(end) => {
                if let Some(instance) = measured.get_mut(&end.instance) {
                    instance.end = Some(end);
                }
            }
            Record::Span(_) | Record::Summary(_) | Record::Annotation(_) => {}
        }
        Ok::<(), ExportError>(())
    })?;
    let mut inspections: BTreeMap<(Id, String), Vec<MeasuredIndicator>> = BTreeMap::new();
    for indicator in measured.into_values() {
        let instance = &indicator.instance;
        let key = (instance.run, instance.benchmark.id.clone());
        inspections.entry(key).or_default().push(indicator);
    }
    let mut counts = AmunCounts::default();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for ((run, benchmark), mut instances) in inspections {
        let Some(run) = runs.get(&run) else { continue };
        let Some(session) = sessions.get(&run.session) else {
            continue;
        };
        let mut tags = { instances.iter() }.flat_map(|it| &it.instance.benchmark.tags);
        let is_indicator = tags.any(|tag| tag == Benchmark::INDICATOR);
        if !is_indicator && !run.attributes.contains_key("inspection") {
            continue;
        }
        instances.sort_by_key(|it| (it.instance.position, it.instance.attempt));
        let inspection = AmunInspection {
            session,
            run,
            instances: &instances,
            benchmark: &benchmark,
        };
        let id = inspection.id();
        let is_new = !known.contains_key(&id);
        let mut next = known.remove(&id).unwrap_or(0);
        if is_new {
            counts.inspections += 1;
            for (path, content) in inspection.build_files()? {
                write(&format!("{id}/build/{path}"), &content)?;
            }
        }
        for own in &instances {
            for iteration in own.executions() {
                let number = own.instance.attributes.get("result");
                let number = number.and_then(Json::as_u64).map(usize::try_from);
                let number = number.and_then(Result::ok).unwrap_or(next);
                next = next.max(number) + 1;
                counts.results += 1;
                let folder = format!("{id}/results/{number}");
                let execution = IndicatorExecution {
                    run,
                    own,
                    iteration,
                };
                let result = execution.result();
                if let Some(hwinfo) = result.get("hwinfo") {
                    write(&format!("{folder}/hwinfo"), &pretty(hwinfo)?)?;
                }
                write(&format!("{folder}/log"), "")?;
                write(&format!("{folder}/result"), &pretty(&result.into())?)?;
            }
        }
        known.insert(id, next);
    }
    Ok(counts)
}

/// An instance of a run with its iterations.
struct MeasuredIndicator {
    instance: Instance,
    iterations: Vec<Iteration>,
    end: Option<InstanceEnd>,
}

impl MeasuredIndicator {
    /// Returns the iterations that stand for an execution: several of one execution count once.
    fn executions(&self) -> impl Iterator<Item = &Iteration> {
        let iterations = self.iterations.iter();
        iterations.filter(|iteration| {
            let has = |key: &str| iteration.attributes.contains_key(key);
            has("exit_code") || has("signal") || has(Iteration::DOCUMENT)
        })
    }

    fn script_hash(&self) -> Option<&str> {
        let fingerprint = self.instance.benchmark.fingerprint.as_deref()?;
        Some(fingerprint.trim_start_matches("sha256:"))
    }
}

fn pretty(value: &Json) -> io::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// The instances of an indicator in a run.
struct AmunInspection<'d> {
    session: &'d Session,
    run: &'d Run,
    instances: &'d [MeasuredIndicator],
    benchmark: &'d str,
}

impl AmunInspection<'_> {
    fn imported(&self, key: &str) -> Option<&Json> {
        self.run.attributes.get("inspection")?.get(key)
    }

    /// Returns the id: that of the imported inspection, else one made of the indicator and its run.
    fn id(&self) -> String {
        if let Some(id) = self.imported("id").and_then(Json::as_str) {
            // It becomes the name of a folder.
            return id
                .replace(['/', '\\'], "-")
                .trim_start_matches('.')
                .to_owned();
        }
        let label = self.benchmark.split('[').next().unwrap_or_default();
        let label: String = label
            .to_lowercase()
            .chars()
            .map(|it| if it.is_ascii_alphanumeric() { it } else { '-' })
            .collect();
        let parts = [self.run.id.to_string(), self.benchmark.to_owned()];
        let id = Id::derived(&parts.each_ref().map(|it| it.as_bytes()));
        let digits: String = id.to_string().chars().filter(|it| *it != '-').collect();
        format!("inspection-{label}-{}", &digits[digits.len() - 8..])
    }

    fn build_files(&self) -> io::Result<Vec<(&'static str, String)>> {
        let text = |key: &str| Some(self.imported(key)?.as_str()?.to_owned());
        let specification = match self.imported("specification") {
            Some(specification) => Some(specification.clone()),
            // A single result was imported without it.
            None if self.imported("id").is_some() => None,
            None => Some(self.specification()),
        };
        let ends = self.instances.iter().filter_map(|it| it.end.as_ref());
        let reason = ends.filter_map(|it| it.message.clone()).next();
        let is_built = self.instances.iter().any(|it| !it.iterations.is_empty());
        let log = match text("build_log") {
            Some(log) => log,
            None if is_built => String::new(),
            None => reason.unwrap_or_default(),
        };
        let specification = specification.as_ref().map(pretty).transpose()?;
        let mut files = Vec::new();
        files.extend(specification.map(|text| ("specification", text)));
        files.push(("log", log));
        files.extend(text("dockerfile").map(|text| ("Dockerfile", text)));
        Ok(files)
    }

    /// Returns the specification of a run of our own.
    fn specification(&self) -> Json {
        let run = self.run;
        let os = |key: &str| {
            let text = run.environment.get("os_release")?.get(key)?.as_str()?;
            Some(text.to_owned())
        };
        let name = os("id").unwrap_or_else(|| "unknown".to_owned());
        let version = os("version_id").map_or_else(String::new, |it| format!(":{it}"));
        let executions = self.instances.iter().map(|it| it.executions().count());
        let batch: usize = executions.sum();
        let mut specification = json!({
            "base": format!("{name}{version}"),
            "batch_size": batch,
            "identifier": self.id().trim_start_matches("inspection-").rsplit_once('-').map(|it| it.0),
            "files": [],
            "packages": [],
        });
        let packages = run.environment.get("packages").and_then(Json::as_object);
        if let Some(packages) = packages {
            let pinned = |(name, version): (&String, &Json)| {
                let version = version.as_str().unwrap_or_default();
                (name.clone(), json!({ "version": format!("=={version}") }))
            };
            let requested = run.factors.iter().filter(|(name, _)| *name != "python");
            let requested: Object = requested
                .map(|(name, level)| (name.clone(), json!({ "version": format!("=={level}") })))
                .collect();
            let requires = json!({ "python_version": python_of(run) });
            specification["python"] = json!({
                "requirements": {"packages": requested, "dev-packages": {}, "requires": requires},
                "requirements_locked": {
                    "_meta": {"requires": requires},
                    "default": packages.iter().map(pinned).collect::<Object>(),
                },
            });
        }
        let first = self.instances.first();
        let hash = first.and_then(MeasuredIndicator::script_hash);
        let scripts = self.session.attributes.get("scripts");
        if let Some(script) = scripts.and_then(|it| it.get(hash?)) {
            specification["script"] = script.clone();
        }
        specification
    }
}

/// Returns major and minor version of the interpreter.
fn python_of(run: &Run) -> Option<String> {
    let text = run.environment.get("python")?.as_str()?;
    let version = text.split_whitespace().last()?;
    let parts: Vec<&str> = version.split('.').take(2).collect();
    Some(parts.join("."))
}

/// One execution of an indicator.
struct IndicatorExecution<'d> {
    run: &'d Run,
    own: &'d MeasuredIndicator,
    iteration: &'d Iteration,
}

impl IndicatorExecution<'_> {
    fn environment(&self, key: &str) -> Option<Json> {
        let own = self.own.instance.environment.get(key);
        own.or_else(|| self.run.environment.get(key)).cloned()
    }

    fn value(&self, metric: &str) -> Option<f64> {
        self.iteration.metrics.get(metric).copied()
    }

    /// Returns the document.
    fn result(&self) -> Object {
        let attributes = &self.iteration.attributes;
        let signal = attributes.get("signal").and_then(Json::as_i64);
        let exit_code = attributes.get("exit_code").cloned();
        let exit_code = exit_code.or_else(|| Some(json!(-signal?)));
        let is_ok = self.iteration.outcome == Outcome::Ok;
        let stdout = attributes
            .get(Iteration::DOCUMENT)
            .or_else(|| attributes.get("stdout"));
        let mut result = Object::new();
        let mut put = |key: &str, value: Option<Json>| {
            if let Some(value) = value {
                result.insert(key.to_owned(), value);
            }
        };
        let by_outcome = || Some(json!(i64::from(!is_ok)));
        put("exit_code", exit_code.or_else(by_outcome));
        put("stdout", stdout.cloned().or_else(|| Some(json!({}))));
        let stderr = attributes.get("stderr").cloned();
        put("stderr", stderr.or_else(|| Some(json!(""))));
        put("script_sha256", self.own.script_hash().map(Json::from));
        put("hostname", self.own.instance.host.clone().map(Json::from));
        put("hwinfo", self.environment("hwinfo"));
        put("os_release", self.environment("os_release"));
        let runtime = self.environment("runtime_environment");
        put("runtime_environment", runtime.or_else(|| self.runtime()));
        let usage = attributes.get("usage").cloned();
        put("usage", usage.or_else(|| Some(self.usage())));
        for (key, time) in self.times() {
            put(key, Some(json!(time.strftime(TIME).to_string())));
        }
        if let Some(Json::Object(others)) = self.own.instance.attributes.get("amun") {
            result.extend(others.clone());
        }
        result
    }

    /// Returns start and end. Before August 2020 there was only the end.
    fn times(&self) -> Vec<(&'static str, Timestamp)> {
        let instance = &self.own.instance;
        let ended = self.own.end.as_ref().and_then(|it| it.ended);
        if instance.attributes.contains_key("result") {
            let end_key = instance.started.map_or("datetime", |_| "end_datetime");
            let started = instance.started.map(|time| ("start_datetime", time));
            let ended = ended.map(|time| (end_key, time));
            return started.into_iter().chain(ended).collect();
        }
        let offset = self.iteration.offset;
        let Some(started) = instance.started else {
            return Vec::new();
        };
        let after = |seconds: f64| {
            let span = SignedDuration::try_from_secs_f64(seconds).ok()?;
            started.checked_add(span).ok()
        };
        let began = offset.unwrap_or(0.0);
        let ended = began + self.value("wall_time").unwrap_or(0.0);
        let began = after(began).map(|time| ("start_datetime", time));
        let ended = after(ended).map(|time| ("end_datetime", time));
        began.into_iter().chain(ended).collect()
    }

    fn runtime(&self) -> Option<Json> {
        let hwinfo = self.environment("hwinfo")?;
        let os = self.environment("os_release")?;
        Some(json!({
            "cuda_version": null,
            "hardware": {
                "cpu_family": hwinfo.pointer("/cpu_info/family"),
                "cpu_model": hwinfo.pointer("/cpu_info/model"),
            },
            "operating_system": {"name": os.get("id"), "version": os.get("version_id")},
            "python_version": python_of(self.run),
        }))
    }

    fn usage(&self) -> Json {
        let mut usage = Object::new();
        for (name, counted) in USAGE {
            let value = counted.and_then(|(metric, unit)| Some(self.value(metric)? / unit));
            let value = value.unwrap_or(0.0);
            let number = match name {
                "ru_utime" | "ru_stime" => json!(value),
                _ => json!(format!("{value:.0}").parse::<i64>().unwrap_or(0)),
            };
            usage.insert(name.to_owned(), number);
        }
        usage.into()
    }
}
