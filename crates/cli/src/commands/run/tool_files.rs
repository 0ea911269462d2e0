//! Files in the formats of hyperfine and pyperf.

use std::path::{Path, PathBuf};

use clap::Args;
use lapwing_measure::suite::Plan;
use lapwing_model::Session;
use lapwing_model::text::counted;
use lapwing_record::{Filter, Store};
use lapwing_show::answers::session::SessionAnswer;
use lapwing_show::exchange::{ExchangeFormat, HyperfineResults, exchange};
use lapwing_show::writing::AnswerFormat;

use super::familiar::REFERENCE;
use crate::error::CliError;
use crate::options::{AnswerOptions, Context, answer_text, check_folder, is_stdout, write_output};

/// Files that get the results as hyperfine or pyperf writes them.
#[derive(Debug, Clone, Default, Args)]
pub struct ToolFiles {
    /// Also write the results in the JSON format of hyperfine, for its scripts; `-` is standard
    /// output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    export_json: Option<PathBuf>,
    /// Also write the figures in the CSV format of hyperfine; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    export_csv: Option<PathBuf>,
    /// Also write the table of hyperfine, in Markdown; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    export_markdown: Option<PathBuf>,
    /// Also write the results in the JSON format of pyperf.
    #[arg(skip)]
    pub pyperf: Option<PathBuf>,
}

impl ToolFiles {
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let all = [
            &self.export_json,
            &self.export_csv,
            &self.export_markdown,
            &self.pyperf,
        ];
        all.into_iter().flatten().map(PathBuf::as_path)
    }

    /// Returns whether one of them is standard output, where the answer is not written then.
    pub fn take_stdout(&self) -> bool {
        self.paths().any(is_stdout)
    }

    /// Returns whether the table is on standard output, so that the answer would be there twice.
    pub fn show_table(&self) -> bool {
        self.export_markdown.as_deref().is_some_and(is_stdout)
    }

    /// Refuses files that cannot be written, before anything is measured.
    pub fn check(&self, context: &Context) -> Result<(), CliError> {
        let on_stdout = self.paths().filter(|path| is_stdout(path)).count();
        let has_format = context.format != AnswerFormat::Text;
        if on_stdout + usize::from(has_format && on_stdout > 0) > 1 {
            return Err(CliError::input("standard output can have one result only")
                .hint("name a file for the others, such as `--export-json times.json`"));
        }
        let mut files = self.paths().filter(|path| !is_stdout(path));
        files.try_for_each(check_folder)
    }

    /// Refuses a plan that has several results of a command: those formats have one.
    pub fn check_plan(&self, plan: &Plan) -> Result<(), CliError> {
        let has_results = self.export_json.is_some() || self.export_csv.is_some();
        if !has_results || plan.variants.len() <= 1 {
            return Ok(());
        }
        let variants = counted(plan.variants.len(), "variant");
        Err(CliError::input(format!(
            "a file of hyperfine has one result per command, and {variants} are measured"
        ))
        .hint("`lapwing export --to hyperfine --where variant=NAME` writes one of them"))
    }

    /// Writes the results of a session.
    pub fn write(
        &self,
        store: &Store,
        session: &Session,
        plan: &Plan,
        answer: &SessionAnswer,
        context: &Context,
    ) -> Result<(), CliError> {
        if self.paths().next().is_some() {
            let filter = Filter::of_session(session.id);
            let order = plan.cases.iter().map(|it| it.benchmark.id.as_str());
            let order: Vec<&str> = order.collect();
            let results = HyperfineResults::read(store, &filter, &order)?;
            if let Some(path) = &self.export_json {
                write_output(path, &results.json()?, context)?;
            }
            if let Some(path) = &self.pyperf {
                let mut text = Vec::new();
                exchange(store, &filter, ExchangeFormat::Pyperf, &mut text)?;
                write_output(path, &text, context)?;
            }
            if let Some(path) = &self.export_csv {
                write_output(path, &results.csv()?, context)?;
            }
            if let Some(path) = &self.export_markdown {
                let options = AnswerOptions::default();
                let mut text = answer_text(answer, AnswerFormat::Markdown, &options, context)?;
                if plan.variants.len() <= 1 {
                    let reference = session.attributes.get(REFERENCE).and_then(|it| it.as_str());
                    let sentence = text.lines().find(|line| line.starts_with("**"));
                    let sentence = sentence.map(|it| format!("\n{it}\n")).unwrap_or_default();
                    text = results.markdown(reference) + &sentence;
                }
                write_output(path, &text, context)?;
            }
        }
        Ok(())
    }
}
