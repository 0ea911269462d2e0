//! Cells in two colours: one for the worse, one for the better, the stronger the more.

use lapwing_stats::as_f64;
use serde_json::{Value, json};

use super::marks::columns::ChartColumns;
use super::parts::{names_axis, plot, row_names, rows_height, tooltip};

/// The most shades of one colour; `chart.js` has as many on both sides of the neutral one.
pub const MOST_SHADES: f64 = 5.0;

const ROW_HEIGHT: u32 = 26;

/// So many letters have room above the columns.
const MOST_LETTERS: usize = 100;

/// A cell of a heat map of changes.
#[derive(Debug)]
pub struct ChangeCell {
    /// From −[`MOST_SHADES`], better, to it, worse; NaN where nothing is known.
    pub shade: f64,
    /// Whether it is framed, as decided.
    pub is_framed: bool,
    /// What is written in it.
    pub text: String,
    /// The label and value of each line shown on hover; the same labels in every cell.
    pub told: Vec<(&'static str, String)>,
}

/// Rows and columns with names, and cells.
#[derive(Debug)]
pub struct ChangeTable {
    /// The names of the rows.
    pub rows: Vec<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The name below the columns.
    pub columns_name: &'static str,
    /// The cells by column and row.
    pub cells: Vec<((usize, usize), ChangeCell)>,
}

impl ChangeTable {
    /// Returns the height of the chart.
    pub fn height(&self) -> u32 {
        96 + rows_height(self.rows.len(), ROW_HEIGHT)
    }

    /// Returns what draws it.
    pub fn into_option(self) -> Value {
        let height = self.height() - 20;
        let mut data = ChartColumns::new(&["cell", "x", "y", "shade", "able"]);
        for (at, ((x, y), cell)) in self.cells.iter().enumerate() {
            data.push(&[
                as_f64(at),
                as_f64(*x),
                as_f64(*y),
                cell.shade + MOST_SHADES,
                f64::from(u8::from(cell.is_framed)),
            ]);
        }
        let texts: Vec<&str> = self.cells.iter().map(|(_, it)| it.text.as_str()).collect();
        let lines = self.cells.iter().map(|(_, it)| it.told.len()).max();
        let fields = (0..lines.unwrap_or(0)).map(|line| {
            let of_cell = |cell: &ChangeCell| cell.told.get(line).cloned().unwrap_or_default();
            let told: Vec<(&str, String)> = self.cells.iter().map(|(_, it)| of_cell(it)).collect();
            let label = told.iter().map(|it| it.0).find(|label| !label.is_empty());
            let names: Vec<&str> = told.iter().map(|(_, value)| value.as_str()).collect();
            json!({"label": label.unwrap_or_default(), "column": "cell", "names": names})
        });
        let fields: Vec<Value> = fields.collect();
        // Names that have no room side by side are slanted.
        let letters: usize = self
            .columns
            .iter()
            .map(|name| name.chars().count() + 2)
            .sum();
        let is_rotated = self.columns.len() > 8 || letters > MOST_LETTERS;
        let mut x = names_axis(self.columns_name, "middle", &self.columns);
        let mut y = names_axis("", "end", &row_names(&self.rows));
        x["position"] = json!("top");
        x["axisLabel"] =
            json!({"interval": 0, "hideOverlap": true, "rotate": if is_rotated { 60 } else { 0 }});
        if is_rotated {
            x["nameGap"] = json!(48);
        }
        y["inverse"] = json!(true);
        y["axisLabel"] = json!({"interval": 0, "color": {"$color": "text"}});
        json!({
            "dataset": [data.into_dataset()],
            "grid": plot(8, height),
            "xAxis": x,
            "yAxis": y,
            "tooltip": tooltip(&json!(fields)),
            "series": [{
                "name": "change",
                "type": "custom",
                "datasetIndex": 0,
                "encode": {"x": "x", "y": "y"},
                "renderItem": {"$function": "heatCell", "names": texts, "palette": "changes"},
            }],
        })
    }
}
