//! `lapwing indicator list`: lists the measured indicators.

use clap::Args;
use lapwing_model::Benchmark;
use lapwing_show::answers::indicators::indicator_list;

use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, FilterOptions};
use crate::store::open_for_reading;

/// List the measured indicators
#[derive(Debug, Args)]
pub struct IndicatorList {
    #[command(flatten)]
    filters: FilterOptions,
    #[command(flatten)]
    answer: AnswerOptions,
}

impl IndicatorList {
    /// Prints the list.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let store = open_for_reading(context)?;
        let filter = self.filters.filter()?.resolve(&store)?;
        let mut rows = store.catalogue().benchmarks(&filter)?;
        rows.retain(|row| row.tags.iter().any(|tag| tag == Benchmark::INDICATOR));
        context.show(&indicator_list(&rows)?, &self.answer)
    }
}
