//! One file per command, with its arguments and its action.

mod advise;
mod bisect;
mod burn_in;
mod campaign;
mod compare;
mod db;
mod detect;
mod doctor;
mod export;
mod help;
mod import;
mod indicator;
mod init;
mod judge;
mod list;
mod markdown_help;
mod mcp;
mod mds;
mod own;
mod plan;
mod report;
mod run;
mod show;
mod stack;
mod study;
mod time;
mod trace;
mod triage;
mod variability;

use clap::Subcommand;

pub use self::bisect::bisection_hint;
pub use self::help::in_groups;
pub use self::import::{
    FilesRead, ImportedFiles, ReadingOptions, is_history_of_action, is_missing, lapwing_command,
    moments, no_file, skipped_notes,
};
pub use self::indicator::indicator_hint;
pub use self::mds::parse_slowdown;
pub use self::run::is_executable;
pub use self::stack::stack_hint;
pub use self::trace::renamed;

use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Box<run::Run>),
    Time(Box<time::TimeCommand>),
    Show(Box<show::ShowCommand>),
    Init(init::InitCommand),
    Doctor(doctor::DoctorCommand),
    Import(import::ImportCommand),
    Export(export::ExportCommand),
    List(list::ListCommand),
    BurnIn(Box<burn_in::BurnIn>),
    Variability(variability::VariabilityCommand),
    Mds(Box<mds::MdsCommand>),
    Plan(Box<plan::PlanCommand>),
    Compare(Box<compare::CompareCommand>),
    Detect(Box<detect::DetectCommand>),
    Triage(triage::TriageCommand),
    Bisect(Box<bisect::BisectCommand>),
    Judge(Box<judge::JudgeCommand>),
    Campaign(campaign::CampaignCommand),
    Study(study::StudyCommand),
    Indicator(indicator::IndicatorCommand),
    Stack(stack::StackCommand),
    Advise(Box<advise::AdviseCommand>),
    Trace(Box<trace::TraceCommand>),
    Report(Box<report::ReportCommand>),
    Db(db::Db),
    Mcp(mcp::McpCommand),
    #[command(name = "self")]
    Own(own::SelfCommand),
    Help(help::HelpCommand),
    MarkdownHelp(markdown_help::MarkdownHelp),
    ClusterTask(run::ClusterTaskCommand),
    ClusterPacket(run::ClusterPacketCommand),
    ClusterShare(run::ClusterShareCommand),
}

impl Command {
    /// Runs the command.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        match self {
            Self::Run(command) => command.act(context),
            Self::Time(command) => command.act(context),
            Self::Show(command) => command.act(context),
            Self::Init(command) => command.act(context),
            Self::Doctor(arguments) => arguments.act(context),
            Self::Import(command) => command.act(context),
            Self::Export(command) => command.act(context),
            Self::List(command) => command.act(context),
            Self::BurnIn(command) => command.act(context),
            Self::Variability(command) => command.act(context),
            Self::Mds(command) => command.act(context),
            Self::Plan(command) => command.act(context),
            Self::Compare(command) => command.act(context),
            Self::Detect(command) => command.act(context),
            Self::Triage(command) => command.act(context),
            Self::Bisect(command) => command.act(context),
            Self::Judge(command) => command.act(context),
            Self::Campaign(command) => command.act(context),
            Self::Study(command) => command.act(context),
            Self::Indicator(command) => command.act(context),
            Self::Stack(command) => command.act(context),
            Self::Advise(command) => command.act(context),
            Self::Trace(command) => command.act(context),
            Self::Report(command) => command.act(context),
            Self::Db(command) => command.act(context),
            Self::Mcp(command) => command.act(context),
            Self::Own(command) => command.act(context),
            Self::Help(command) => command.act(context),
            Self::MarkdownHelp(command) => command.act(context),
            Self::ClusterTask(command) => command.act(context),
            Self::ClusterPacket(command) => command.act(context),
            Self::ClusterShare(command) => command.act(),
        }
    }
}
