//! One definition of a chart serves the page, SVG and PNG: an Apache ECharts option, built
//! here, completed by `assets/chart.js` wherever it is drawn.
//!
//! An option is plain JSON. Where ECharts wants a colour of the theme or a function, it holds
//! `{"$color": …}` or `{"$function": …}`, which `chart.js` replaces. Data stand in columns, in
//! `dataset`, in the unit of the axis and with six significant digits.

mod bars;
mod burn_in;
mod change_cells;
mod change_map;
mod comparison;
mod detection;
mod distribution;
mod drawing;
mod heat;
mod history;
mod instance_means;
mod iterations;
mod marks;
mod parts;
mod power;
mod ratios;
mod sweep;
mod threshold_map;
mod variability;

use serde::Serialize;
use serde_json::{Value, json};

pub use bars::{BarFigures, bars};
pub use burn_in::{BurnInMarks, burn_in};
pub use change_map::change_map;
pub use comparison::{ComparedValue, comparison};
pub use detection::{detection, plan};
pub use distribution::distribution;
pub use drawing::engine::DrawError;
pub(super) use drawing::engine::{CHART_SCRIPT, ECHARTS};
pub use drawing::page::{PageSection, charts_page, save_page, save_page_with};
pub use drawing::picture::{ChartFile, SaveError};
pub(super) use history::order as history_order;
pub use history::{HistoryPoint, RunName, RunNumber, history, place_names};
pub use instance_means::instance_means;
pub use iterations::iterations;
pub(super) use marks::columns::number;
pub(super) use marks::history_marks::{mark_series, sentence as mark_sentence};
pub use marks::level_marks::LevelMark;
pub(super) use marks::thin::thin;
pub use ratios::ratios;
pub use sweep::{SweepPoint, sweep};
pub use threshold_map::threshold_map;
pub use variability::variability;

use super::packed::packed;

/// What charts of other crates are built of.
pub mod build {
    pub use super::change_cells::{ChangeCell, ChangeTable, MOST_SHADES};
    pub use super::marks::columns::ChartColumns;
    pub use super::parts::{
        axis_below_rows, grid, number_axis, row_axis, row_intervals, row_names, rows_height,
        tooltip,
    };
    pub use super::{colour, named_colour};
}

/// A chart: its texts, and how to draw it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Its id on the page; also the stem of file names.
    pub id: &'static str,
    /// Its title.
    pub title: String,
    /// An explanation, and what was left out.
    pub subtitle: String,
    /// Width in pixels of a picture of it; a page gives it the width that there is.
    pub width: u32,
    /// Height in pixels, without title and subtitle.
    pub height: u32,
    /// The option.
    pub option: Value,
    /// Other ways to look at the same data; the first is the option as it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<ChartView>,
    /// The time of each place on the axis, in seconds, where the axis may show time instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<i64>,
    /// Targets of clicks, by the number in the column `run`.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_packed")]
    pub links: Vec<String>,
}

fn as_packed<S: serde::Serializer>(texts: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    packed(texts).serialize(serializer)
}

/// Another way to look at a chart's data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChartView {
    /// The text of its button.
    pub label: String,
    /// The changes to the option.
    pub patch: Value,
}

impl Chart {
    /// Returns a chart with one view and without links.
    pub fn new(
        id: &'static str,
        title: String,
        subtitle: String,
        height: u32,
        option: Value,
    ) -> Self {
        Self {
            id,
            title,
            subtitle,
            width: WIDTH,
            height,
            option,
            views: Vec::new(),
            times: Vec::new(),
            links: Vec::new(),
        }
    }
}

/// Dark on light or light on dark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChartTheme {
    /// Dark on light.
    #[default]
    Light,
    /// Light on dark.
    Dark,
}

impl ChartTheme {
    fn name(self) -> &'static str {
        match self {
            Self::Light => "lapwing-light",
            Self::Dark => "lapwing-dark",
        }
    }
}

/// The width of pictures.
const WIDTH: u32 = 900;

/// The size of the text at axes.
const LABEL_SIZE: f64 = 12.0;

/// The colour of each variant, the same in every chart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariantColours(Vec<String>);

impl VariantColours {
    /// Returns the colour of a variant: a number that a theme turns into a colour. A variant
    /// that was not seen before gets the next one.
    pub fn number(&mut self, variant: &str) -> usize {
        if let Some(number) = self.0.iter().position(|known| known == variant) {
            return number;
        }
        self.0.push(variant.to_owned());
        self.0.len() - 1
    }

    /// Returns the colour of a variant, or the one after all others where it was never seen.
    pub fn get(&self, variant: &str) -> usize {
        self.0
            .iter()
            .position(|known| known == variant)
            .unwrap_or(self.0.len())
    }
}

/// Returns the place in an option that a theme fills with a series' colour.
pub fn colour(number: usize) -> Value {
    json!({ "$color": number })
}

/// Returns the place in an option that a theme fills with a colour that has a name.
pub fn named_colour(name: &str) -> Value {
    json!({ "$color": name })
}

/// Returns the number with six significant digits: enough to draw and to read, and short.
///
/// Powers of ten up to 10^22 are exact, and so the quotient is the number nearest to the decimal.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the decimal logarithm of a finite number is between -324 and 309"
)]
fn six_digits(value: f64) -> f64 {
    const EXACT_POWERS: i32 = 22;
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let decimals = 5 - value.abs().log10().floor() as i32;
    if (0..=EXACT_POWERS).contains(&decimals) {
        let power = 10_f64.powi(decimals);
        (value * power).round() / power
    } else if (-10..0).contains(&decimals) {
        let power = 10_f64.powi(-decimals);
        (value / power).round() * power
    } else {
        format!("{value:.5e}").parse().unwrap_or(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_those_that_are_written() {
        let mut value = 1.234_567_89e-30;
        for _ in 0..2_000 {
            value *= 1.0713;
            let written: f64 = format!("{value:.5e}").parse().expect("a number");
            // Half-way cases aside, which a computed number hardly ever is.
            assert_eq!(six_digits(value).to_bits(), written.to_bits(), "{value}");
            assert_eq!(six_digits(-value).to_bits(), (-written).to_bits());
        }
        assert_eq!(six_digits(0.0).to_bits(), 0.0_f64.to_bits());
        assert!(six_digits(f64::NAN).is_nan());
    }
}
