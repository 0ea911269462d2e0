//! Keeps what was measured: record lines, other tools' files, the store.

mod annotations;
mod columns;
mod data;
mod epoch;
pub mod export;
pub mod inbox;
mod memory;
mod order;
mod params;
mod record_file;
pub mod sharing;
pub mod store;
mod units;
mod variants;
mod void;

pub use crate::model::{LineError, NEVER_NEGATIVE, RECORD_VERSION, parse_line, write_line};
pub(crate) use annotations::Names;
pub use annotations::{Change, Remark, Retirement};
pub use columns::{IterationColumns, Mark};
pub use data::{BenchmarkData, Filter, InstanceData, Iterations, Retired};
pub(crate) use epoch::{Head, epochs, keep_newest_epoch};
pub use memory::Memory;
pub use order::Place;
pub(crate) use order::{Moment, Order, parse_date, version_date};
pub(crate) use params::{Params, differ, telling};
pub use record_file::RecordFile;
pub use store::{
    Appended, BenchmarkRow, CheckReport, Count, InstanceState, LeftOut, MetricRow, Purged, RunRow,
    SessionRow, SessionState, Store, StoreError, StoreInfo, Touched, Writer,
};
pub(crate) use units::{convert, settle_units};
pub use variants::is_setting;
pub(crate) use variants::{Levels, Variants, levels_of, levels_text, setting_name, telling_levels};
pub(crate) use void::settle_void;
