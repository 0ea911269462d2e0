//! Progress of measuring.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use lapwing_measure::suite::{BurnIn, Plan, PlannedCommit};
use lapwing_measure::{Consumer, Event, JobCounts};
use lapwing_model::text::{counted, first_names, grouped};
use lapwing_model::{Outcome, Record};
use lapwing_show::quantity;
use lapwing_show::writing::safe_line;

use crate::options::Context;

/// The progress bar, and with `--verbose` a line per instance.
pub struct RunProgress<'a> {
    context: &'a Context,
    bar: ProgressBar,
    current: CurrentInstance,
    noted: BTreeSet<String>,
    has_begun: bool,
    /// Whether measuring may end before all is measured.
    pub may_end_early: bool,
    /// Whether the bar counts instances of a cluster, and no iterations.
    counts_jobs: bool,
    jobs: Option<(JobCounts, Instant)>,
}

#[derive(Default)]
struct CurrentInstance {
    label: String,
    /// Number of instances under way: two in a duet.
    open: u32,
    instance: u32,
    means: Vec<f64>,
    last: String,
    planned: u64,
    done: u64,
}

/// Minimum time until an estimate is shown.
const PATIENCE: Duration = Duration::from_millis(500);
/// Without a terminal there is a line about the jobs of a cluster this often.
const JOBS_LINE: Duration = Duration::from_secs(30);
/// The largest number of nodes that are named.
const NODES: usize = 4;

impl<'a> RunProgress<'a> {
    pub fn new(context: &'a Context) -> Self {
        Self {
            context,
            bar: ProgressBar::hidden(),
            current: CurrentInstance::default(),
            noted: BTreeSet::new(),
            has_begun: false,
            may_end_early: false,
            counts_jobs: false,
            jobs: None,
        }
    }

    fn begin(&mut self, plan: &Plan, instances: usize) {
        if self.context.quiet {
            return;
        }
        // With several looks at the results there are several beginnings.
        if !std::mem::replace(&mut self.has_begun, true) {
            self.context
                .terminal
                .say(&headline(plan, instances, self.may_end_early));
        }
        let Some(target) = self.context.terminal.progress() else {
            return;
        };
        let cases = plan.cases.iter();
        let total = cases.map(|it| u64::from(planned(it)) * u64::from(it.instances));
        let total = total.sum::<u64>() * plan.variants.len() as u64;
        let left = total * instances as u64 / (all_instances(plan) as u64).max(1);
        let style = ProgressStyle::with_template(" [{bar:24}] {pos}/{len}   {msg}   {eta}")
            .unwrap_or_else(|_template| ProgressStyle::default_bar())
            .progress_chars("■■□")
            .with_key("eta", write_remaining);
        self.bar = ProgressBar::with_draw_target(Some(left), target)
            .with_style(style)
            .with_elapsed(Duration::ZERO);
    }

    fn finish_instance(&mut self) {
        let missing = self.current.planned.saturating_sub(self.current.done);
        if !self.counts_jobs {
            self.bar.inc(missing);
        }
        if self.context.verbose
            && let Some(mean) = lapwing_stats::mean(&self.current.means)
        {
            let line = format!(
                " {}  instance {}   {}",
                self.current.label,
                self.current.instance,
                quantity(mean, "s")
            );
            self.bar.suspend(|| self.context.terminal.say(&line));
        }
    }

    /// Shows where the instances of a cluster are; without a terminal as a line, once in a while.
    fn show_jobs(&mut self, counts: &JobCounts) {
        let left = counts.queued + counts.running;
        self.counts_jobs = true;
        if !self.bar.is_hidden() {
            let over = counts.done + counts.lost;
            self.bar.set_length((over + left) as u64);
            self.bar.set_position(over as u64);
            self.bar.set_message(safe_line(&jobs_text(counts)));
            return;
        }
        let is_due = match &self.jobs {
            None => true,
            Some((last, at)) => last != counts && (at.elapsed() > JOBS_LINE || left == 0),
        };
        if is_due && !self.context.quiet {
            self.context.terminal.say(&jobs_text(counts));
            self.jobs = Some((counts.clone(), Instant::now()));
        }
    }

    fn show(&self) {
        let current = &self.current;
        self.bar.set_message(safe_line(&format!(
            "{}  instance {}   {}",
            current.label, current.instance, current.last
        )));
    }
}

/// Returns `12 queued, 2 running on n1, n2, 26 done, 1 lost, 3 resubmitted`.
fn jobs_text(counts: &JobCounts) -> String {
    let mut parts = Vec::new();
    let mut push = |count: usize, what: &str| {
        if count > 0 {
            parts.push(format!("{} {what}", grouped(count)));
        }
    };
    push(counts.queued, "queued");
    let nodes = first_names(counts.nodes.iter().map(String::as_str), NODES);
    if nodes.is_empty() {
        push(counts.running, "running")
    } else {
        push(counts.running, &format!("running on {nodes}"))
    }
    push(counts.done, "done");
    push(counts.lost, "lost");
    push(counts.resubmitted, "resubmitted");
    parts.join(", ")
}

fn write_remaining(state: &indicatif::ProgressState, out: &mut dyn std::fmt::Write) {
    let left = state.eta();
    if state.elapsed() < PATIENCE || state.pos() == 0 {
        return;
    }
    // A writer to a string cannot fail.
    let _written = match left.as_secs() {
        0 => write!(out, "about 1 s left"),
        seconds @ 1..120 => write!(out, "about {seconds} s left"),
        seconds @ 120..7200 => write!(out, "about {} min left", seconds / 60),
        seconds => write!(out, "about {} h left", seconds / 3600),
    };
}

/// Returns the number of instances of all benchmarks and variants.
fn all_instances(plan: &Plan) -> usize {
    let instances = plan.cases.iter().map(|case| case.instances as usize);
    instances.sum::<usize>() * plan.variants.len()
}

fn planned(case: &lapwing_measure::suite::Case) -> u32 {
    case.burn_in.planned().saturating_add(case.iterations)
}

/// Returns `measuring 2 benchmarks × 5 instances × (1 + 5) iterations, seed 7, order interleaved`.
fn headline(plan: &Plan, instances: usize, may_end_early: bool) -> String {
    let benchmarks = match plan.cases.len() {
        1 => "1 benchmark".to_owned(),
        many => format!("{} benchmarks", grouped(many)),
    };
    let commits = plan.variants.iter().filter_map(|it| it.commit.as_ref());
    let mut commits: Vec<&str> = commits.map(PlannedCommit::hash).collect();
    commits.dedup();
    let is_of_commit = plan.variants.iter().all(|it| it.commit.is_some());
    let sides = match (commits.len(), plan.variants.len()) {
        (_, many) if !is_of_commit && many > 1 => format!(" × {many} variants"),
        (0, 1) => String::new(),
        (many, all) if many == all => format!(" × {}", counted(many, "commit")),
        (many, all) => format!(" × {} × {} variants", counted(many, "commit"), all / many),
    };
    let one_by_one = !plan.interleave && !commits.is_empty();
    let order = if one_by_one {
        "one commit after another"
    } else if plan.duet.is_some() {
        "two at a time"
    } else {
        "order interleaved"
    };
    let first = &plan.cases[0];
    let same = plan.cases.iter().all(|case| {
        (case.instances, case.burn_in, case.iterations)
            == (first.instances, first.burn_in, first.iterations)
    });
    let all = all_instances(plan);
    let repeats = if instances > all {
        format!(", {} more", counted(instances, "instance"))
    } else if may_end_early || plan.stop_early.is_some() {
        format!(" × at most {}", counted(first.instances, "instance"))
    } else if instances != all {
        // The later commits are not counted yet.
        let left = if one_by_one { "" } else { " left" };
        format!(
            ", {} of {} instances{left}",
            grouped(instances),
            grouped(all)
        )
    } else if same {
        let burn_in = match first.burn_in {
            BurnIn::Fixed(burn_in) => burn_in.to_string(),
            BurnIn::Auto => "auto".to_owned(),
        };
        let at_least = if first.min_time.is_some() {
            "at least "
        } else {
            ""
        };
        format!(
            " × {} × ({burn_in} + {at_least}{}) iterations",
            counted(first.instances, "instance"),
            first.iterations
        )
    } else {
        format!(", {} instances", grouped(instances))
    };
    format!(
        "measuring {benchmarks}{sides}{repeats}, seed {}, {order}",
        plan.seed
    )
}

impl Consumer for RunProgress<'_> {
    fn take(&mut self, event: &Event<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
        match event {
            Event::Started { plan, instances } => self.begin(plan, *instances),
            Event::InstanceStarted {
                planned: at,
                case,
                variant,
            } => {
                let label = variant.label();
                let variant = if label == lapwing_model::Run::DEFAULT_VARIANT {
                    String::new()
                } else {
                    format!("  {label}")
                };
                let label = format!("{}{variant}", shorten(&case.benchmark.id));
                if self.current.open > 0 {
                    self.current.open += 1;
                    self.current.label.push_str(&format!(" | {label}"));
                    self.current.planned += u64::from(planned(case));
                } else {
                    self.current = CurrentInstance {
                        label,
                        open: 1,
                        instance: at.block + 1,
                        planned: u64::from(planned(case)),
                        ..CurrentInstance::default()
                    };
                }
            }
            Event::Record(Record::Iteration(iteration)) => {
                self.current.done += 1;
                if self.current.done <= self.current.planned && !self.counts_jobs {
                    self.bar.inc(1);
                }
                self.current.last = match iteration.outcome {
                    Outcome::Ok => {
                        let time = iteration.metrics.get("wall_time");
                        let time = time.copied().unwrap_or(f64::NAN);
                        if !iteration.burn_in {
                            self.current.means.push(time);
                        }
                        quantity(time, "s")
                    }
                    Outcome::Failed | Outcome::TimedOut | Outcome::Skipped => {
                        iteration.outcome.to_string().replace('_', " ")
                    }
                };
                if !self.bar.is_hidden() && !self.counts_jobs {
                    self.show();
                }
            }
            Event::Record(Record::InstanceEnd(_)) => {
                self.current.open = self.current.open.saturating_sub(1);
                if self.current.open == 0 {
                    self.finish_instance();
                }
            }
            Event::Note(text) => {
                // Once, however many iterations it is about.
                if self.noted.insert(text.clone()) {
                    self.bar.suspend(|| self.context.terminal.note(text));
                }
            }
            Event::Jobs(counts) => self.show_jobs(counts),
            Event::Ended => self.bar.finish_and_clear(),
            Event::Record(_) => {}
        }
        Ok(())
    }
}

/// Returns a name that is short enough for the line.
fn shorten(name: &str) -> String {
    const ROOM: usize = 32;
    if name.chars().count() <= ROOM {
        return name.to_owned();
    }
    let end: String = name.chars().skip(name.chars().count() - ROOM + 1).collect();
    format!("…{end}")
}
