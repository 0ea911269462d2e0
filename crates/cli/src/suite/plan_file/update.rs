//! Writes a plan into a suite file.

use lapwing_measure::suite::PlanEntry;
use lapwing_model::text::shell_word;

use super::matching::BenchmarkNames;
use super::{PlanFile, few};
use crate::error::CliError;
use crate::options::Context;
use crate::suite::suite_update::{SuiteFile, SuiteNumbers, changes_text};

/// Writes instances, iterations and burn-in of a plan into the tables of a suite file, and reports
/// the changes.
pub fn update_suite(file: SuiteFile, plan: &PlanFile, context: &Context) -> Result<(), CliError> {
    let path = file.path().display().to_string();
    let ids = file.benchmarks();
    let names = BenchmarkNames {
        owner: format!("the suite `{}`", file.name()),
        ids: ids.iter().map(String::as_str).collect(),
        hint: format!(
            "`lapwing run {} --dry-run` lists what it has",
            shell_word(&path)
        ),
    };
    // Once, before anything is written.
    plan.entries(&names, context)
        .map_err(|error| error.consequence(format!("{path} was not changed")))?;
    let updates = file.update(|file| numbers(file, plan))?;
    if context.quiet {
        return Ok(());
    }
    context.terminal.say(&changes_text(&path, &updates));
    for update in updates.iter().filter(|it| it.benchmarks.len() > 1) {
        let ids = update.benchmarks.iter().map(|(id, _)| id.as_str());
        context.terminal.note(&format!(
            "benchmarks of one table share its numbers, which are the largest: {}",
            few(ids)
        ));
    }
    Ok(())
}

/// Returns the numbers of each benchmark of a suite that a plan names.
fn numbers(file: &SuiteFile, plan: &PlanFile) -> Vec<(String, SuiteNumbers)> {
    let ids = file.benchmarks();
    let names: Vec<&str> = ids.iter().map(String::as_str).collect();
    let assignment = plan.document.assign(&names);
    let numbers = ids.iter().zip(assignment.entries);
    numbers
        .filter_map(|(id, at)| Some((id.clone(), of_entry(&plan.document.entries[at?]))))
        .collect()
}

fn of_entry(entry: &PlanEntry) -> SuiteNumbers {
    let first = entry.first();
    SuiteNumbers {
        instances: first.map(|it| it.instances),
        iterations: first.map(|it| it.iterations),
        burn_in: Some(entry.burn_in),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use lapwing_measure::suite::PlanDocument;

    use super::*;
    use crate::suite::suite_update;
    use lapwing_show::writing::AnswerFormat;

    const SUITE: &str = "\
suite = \"compressors\"

[benchmark.gzip]          # the classic
command = \"gzip -{level} -kf f\"
params.level = [1, 9]
instances = 5             # by eye

[benchmark.sort]
command = 'sort f'

[benchmark.other]
command = 'true'
";

    fn plan(text: &str) -> PlanFile {
        let path = Path::new("plan.yaml");
        PlanFile {
            path: path.to_owned(),
            document: PlanDocument::parse(path, text).expect("a plan").document,
        }
    }

    #[test]
    fn the_first_configuration_of_each_entry_comes_into_the_suite() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, other) = (
            folder.path().join("lapwing.toml"),
            folder.path().join("b.toml"),
        );
        std::fs::write(&path, SUITE).expect("written");
        std::fs::write(&other, SUITE).expect("written");
        let plan = plan(
            "\
- {item: 'gzip[level=1]', burn_in: 3, config: [{slowdown: 1.1, instances: 10, iterations: 5}]}
- {item: 'gzip[level=9]', burn_in: 0, config: [{slowdown: 1.1, instances: 8, iterations: 20}]}
- {item: 'a.py::sort', burn_in: 1, config: [{slowdown: 1.1, instances: 5, iterations: 5}, {slowdown: 1.2, instances: 2, iterations: 2}]}
- {item: none, burn_in: 1, config: [{slowdown: 1.1, instances: 5, iterations: 5}]}
",
        );
        let file = suite_update::load(&path).expect("a suite");
        let updates = file.update(|file| numbers(file, &plan)).expect("updated");
        let said = changes_text("lapwing.toml", &updates);
        insta::assert_snapshot!(said, @"updated lapwing.toml: gzip: instances 5 → 10, iterations 5 → 20, burn_in 1 → 3; unchanged: 1 other");
        insta::assert_snapshot!(std::fs::read_to_string(&path).expect("there"), @r#"
        suite = "compressors"

        [benchmark.gzip]          # the classic
        command = "gzip -{level} -kf f"
        params.level = [1, 9]
        instances = 10             # by eye
        iterations = 20
        burn_in = 3

        [benchmark.sort]
        command = 'sort f'

        [benchmark.other]
        command = 'true'
        "#);

        let file = suite_update::load(&other).expect("a suite");
        update_suite(file, &plan, &quiet()).expect("updated");
        let read = |path| std::fs::read_to_string(path).expect("there");
        assert_eq!(read(&other), read(&path));

        let file = suite_update::load(&path).expect("a suite");
        let updates = file.update(|file| numbers(file, &plan)).expect("updated");
        assert_eq!(
            changes_text("lapwing.toml", &updates),
            "lapwing.toml is unchanged: it already has these numbers"
        );
    }

    #[test]
    fn a_plan_of_other_benchmarks_leaves_the_suite_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lapwing.toml");
        std::fs::write(&path, SUITE).expect("written");
        let plan = plan(
            "- {item: sotr, burn_in: 3, config: [{slowdown: 1.1, instances: 10, iterations: 5}]}",
        );
        let file = suite_update::load(&path).expect("a suite");
        let error = update_suite(file, &plan, &quiet()).expect_err("none of them");
        assert_eq!(
            error.sentence(),
            "plan.yaml names no benchmark of the suite `compressors`: `sotr`"
        );
        assert_eq!(error.hint.as_deref(), Some("did you mean `sort`?"));
        let text = std::fs::read_to_string(&path).expect("there");
        assert_eq!(text, SUITE);
    }

    fn quiet() -> Context {
        Context::quiet("no store".into(), AnswerFormat::Text)
    }
}
