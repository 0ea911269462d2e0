//! hyperfine's `--export-json`: one document, one result a command.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::detect::has_key;
use super::hail::hex;
use super::hyperfine_document::{CommandResult, Document, parse};
use super::sink::Sink;
use super::{EachRun, Format, ImportError, ImportOptions, Source};
use crate::model::{
    Benchmark, Id, Instance, InstanceEnd, InstanceOutcome, Iteration, Metric, Object, Outcome,
    Record, Run, Session, Summary, Version,
};
use crate::record::StoreError;

pub(super) const FORMAT: Format = Format {
    name: "hyperfine",
    about: "hyperfine --export-json",
    looks_like,
    read,
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    (head.trim_ascii_start().starts_with(b"{")
        && has_key(head, "results")
        && has_key(head, "command"))
    .then_some("it has `results` with a `command`")
}

/// What can be computed again from the times.
const DERIVED: [&str; 5] = ["mean", "stddev", "median", "min", "max"];

fn read(
    source: &Source,
    options: &ImportOptions,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let digest = source.sha256()?;
    let document = parse(source)?;
    let new = new_session(source, options, &digest);
    let session = match sink.known_session(&new)? {
        Some(known) => {
            refuse_other_options(&known, &new, options)?;
            known
        }
        None => new,
    };
    sink.line(1, &records(&session, document, options.each_run))
}

fn new_session(source: &Source, options: &ImportOptions, digest: &[u8; 32]) -> Session {
    let mut attributes = Object::new();
    attributes.insert(
        "source".to_owned(),
        json!({
            "format": FORMAT.name,
            "file": source.name(),
            "sha256": hex(digest),
            "each_run": each_run_name(options.each_run),
        }),
    );
    Session {
        id: Id::derived(&[b"hyperfine", digest]),
        suite: options
            .suite
            .clone()
            .unwrap_or_else(|| FORMAT.name.to_owned()),
        // hyperfine writes no date; the file's is the nearest. The id does not depend on
        // it, and the session that is in the store already wins.
        started: source.modified().unwrap_or(options.now),
        seed: None,
        tool: "hyperfine".to_owned(),
        name: Some(source.stem().to_owned()),
        attributes,
        artifacts: Object::new(),
        extra: Object::new(),
    }
}

fn each_run_name(each_run: EachRun) -> &'static str {
    match each_run {
        EachRun::Iteration => "iteration",
        EachRun::Instance => "instance",
    }
}

fn refuse_other_options(
    known: &Session,
    new: &Session,
    options: &ImportOptions,
) -> Result<(), ImportError> {
    let each_run = |session: &Session| session.attributes["source"]["each_run"].clone();
    let session = || known.name.clone().unwrap_or_else(|| known.id.to_string());
    if each_run(known) != each_run(new) {
        return Err(ImportError::Store(StoreError::ImportedOtherwise {
            session: session(),
            before: format!("--each-run {}", each_run(known).as_str().unwrap_or("?")),
            now: format!("--each-run {}", each_run_name(options.each_run)),
        }));
    }
    if options.suite.is_some() && known.suite != new.suite {
        return Err(ImportError::Store(StoreError::ImportedOtherwise {
            session: session(),
            before: format!("suite `{}`", known.suite),
            now: format!("suite `{}`", new.suite),
        }));
    }
    Ok(())
}

fn records(session: &Session, document: Document, each_run: EachRun) -> Vec<Record> {
    let run = Id::derived(&[b"hyperfine run", session.id.as_bytes()]);
    let mut records = vec![
        Record::Session(session.clone()),
        Record::Run(new_run(run, session.id, &document)),
    ];
    let names = names(&document.results);
    let mut position = 0;
    for (place, (result, name)) in document.results.into_iter().zip(names).enumerate() {
        let mut builder = Builder {
            run,
            session: session.id,
            place,
            name,
            position,
            result,
            records: Vec::new(),
        };
        match each_run {
            EachRun::Iteration => builder.one_instance(),
            EachRun::Instance => builder.instance_each(),
        }
        position = builder.position;
        records.append(&mut builder.records);
    }
    records
}

/// A name given to commands of different parameters needs them to tell which is which.
fn names(results: &[CommandResult]) -> Vec<String> {
    results
        .iter()
        .map(|result| {
            let shared = results
                .iter()
                .filter(|other| other.command == result.command)
                .any(|other| other.parameters != result.parameters);
            match &result.parameters {
                Some(parameters) if shared => {
                    let list: Vec<String> = parameters
                        .iter()
                        .map(|(key, value)| match value {
                            Value::String(text) => format!("{key}={text}"),
                            other => format!("{key}={other}"),
                        })
                        .collect();
                    format!("{}[{}]", result.command, list.join(","))
                }
                Some(_) | None => result.command.clone(),
            }
        })
        .collect()
}

fn new_run(id: Id, session: Id, document: &Document) -> Run {
    let mut metrics = BTreeMap::from([("wall_time".to_owned(), Metric::lower("s"))]);
    let any = |has: fn(&CommandResult) -> bool| document.results.iter().any(has);
    if any(|it| it.memory_usage_byte.is_some()) {
        metrics.insert("peak_memory".to_owned(), Metric::lower("B"));
    }
    if any(|it| it.user.is_some()) {
        metrics.insert("user_time".to_owned(), Metric::lower("s"));
    }
    if any(|it| it.system.is_some()) {
        metrics.insert("system_time".to_owned(), Metric::lower("s"));
    }
    Run {
        id,
        session,
        variant: Run::DEFAULT_VARIANT.to_owned(),
        factors: BTreeMap::new(),
        definitions: BTreeMap::new(),
        version: Version::default(),
        metrics,
        environment: Object::new(),
        attributes: Object::new(),
        artifacts: Object::new(),
        extra: Object::new(),
    }
}

struct Builder {
    run: Id,
    session: Id,
    place: usize,
    name: String,
    position: u32,
    result: CommandResult,
    records: Vec<Record>,
}

impl Builder {
    fn one_instance(&mut self) {
        let id = self.instance(0);
        for k in 0..self.runs() {
            let iteration = self.iteration(id, u32::try_from(k).unwrap_or(u32::MAX), k);
            self.records.push(Record::Iteration(iteration));
        }
        self.means(id);
        self.end(id);
    }

    fn instance_each(&mut self) {
        if self.runs() == 0 {
            return self.one_instance();
        }
        for k in 0..self.runs() {
            let id = self.instance(k);
            let iteration = self.iteration(id, 0, k);
            self.records.push(Record::Iteration(iteration));
            if k == 0 {
                // The means speak of all runs; they stand with the first.
                self.means(id);
            }
            self.end(id);
        }
    }

    fn runs(&self) -> usize {
        self.result.times.as_ref().map_or(0, Vec::len)
    }

    fn instance(&mut self, k: usize) -> Id {
        let id = Id::derived(&[
            b"hyperfine instance",
            self.session.as_bytes(),
            &(self.place as u64).to_le_bytes(),
            &(k as u64).to_le_bytes(),
        ]);
        let mut attributes = self.result.others.clone();
        if self.runs() > 0 {
            for key in DERIVED {
                attributes.remove(key);
            }
        }
        self.records.push(Record::Instance(Instance {
            id,
            run: self.run,
            benchmark: Benchmark {
                id: self.name.clone(),
                params: self.result.parameters.clone().unwrap_or_default(),
                ..Benchmark::default()
            },
            block: u32::try_from(k).unwrap_or(u32::MAX),
            position: self.position,
            attempt: 0,
            host: None,
            started: None,
            environment: Object::new(),
            job: Object::new(),
            attributes,
            artifacts: Object::new(),
            extra: Object::new(),
        }));
        self.position += 1;
        id
    }

    fn iteration(&self, instance: Id, index: u32, k: usize) -> Iteration {
        let mut metrics = BTreeMap::new();
        let columns = [
            ("wall_time", &self.result.times),
            ("peak_memory", &self.result.memory_usage_byte),
        ];
        for (name, column) in columns {
            if let Some(value) = column.as_ref().and_then(|column| column.get(k)) {
                metrics.insert(name.to_owned(), *value);
            }
        }
        let code = self.result.exit_codes.as_ref().and_then(|it| it.get(k));
        let (outcome, message) = match code {
            Some(Some(0)) | None => (Outcome::Ok, None),
            Some(Some(code)) => (Outcome::Failed, Some(format!("exit code {code}"))),
            Some(None) => (Outcome::Failed, Some("ended by a signal".to_owned())),
        };
        let mut attributes = Object::new();
        if let Some(Some(code)) = code
            && *code != 0
        {
            attributes.insert("exit_code".to_owned(), Value::from(*code));
        }
        Iteration {
            instance,
            index,
            offset: None,
            burn_in: false,
            loops: 1,
            outcome,
            message,
            metrics,
            attributes,
            artifacts: Object::new(),
            extra: Object::new(),
        }
    }

    /// hyperfine keeps only the means of processor times, and programs that write its
    /// format may keep no more than the mean of the wall time either.
    fn means(&mut self, instance: Id) {
        let number = |key: &str| self.result.others.get(key).and_then(Value::as_f64);
        if self.runs() == 0
            && let Some(centre) = number("mean")
        {
            let spread = number("stddev");
            let statistic = if spread.is_some() { "mean/sd" } else { "mean" };
            self.records.push(Record::Summary(Summary {
                instance,
                metric: "wall_time".to_owned(),
                n: None,
                centre,
                spread,
                statistic: statistic.to_owned(),
                extra: Object::new(),
            }));
        }
        let means = [
            ("user_time", self.result.user),
            ("system_time", self.result.system),
        ];
        for (metric, mean) in means {
            if let Some(centre) = mean {
                self.records.push(Record::Summary(Summary {
                    instance,
                    metric: metric.to_owned(),
                    n: (self.runs() > 0).then_some(self.runs() as u64),
                    centre,
                    spread: None,
                    statistic: "mean".to_owned(),
                    extra: Object::new(),
                }));
            }
        }
    }

    fn end(&mut self, instance: Id) {
        self.records.push(Record::InstanceEnd(InstanceEnd {
            instance,
            ended: None,
            outcome: InstanceOutcome::Ok,
            message: None,
            observed: Object::new(),
            extra: Object::new(),
        }));
    }
}
