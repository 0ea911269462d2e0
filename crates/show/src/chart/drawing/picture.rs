//! A chart as a file: SVG, PNG or a page of its own.

use std::path::{Path, PathBuf};

use lapwing_stats::as_f64;
use maud::html;
use serde_json::{Value, json};

use super::super::{Chart, ChartTheme};
use super::engine::{self, DrawError};
use super::font;
use super::page::chart_page;

/// Why a chart could not be saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The file's name has none of the three extensions.
    #[error("`{}` does not end in .svg, .png or .html", path.display())]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// The chart could not be drawn.
    #[error(transparent)]
    Draw(#[from] DrawError),
    /// This program was built without PNG.
    #[cfg(not(feature = "png"))]
    #[error("`{}` cannot be written: this program was built without PNG (Cargo feature `png`)", path.display())]
    NoPng {
        /// The file.
        path: PathBuf,
    },
    /// The file could not be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

const MARGIN: f64 = 16.0;
const TITLE_SIZE: f64 = 16.0;
const TITLE_LINE: f64 = 22.0;
const SUBTITLE_SIZE: f64 = 12.0;
const SUBTITLE_LINE: f64 = 17.0;

/// A file of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartFile {
    /// A picture without loss at any size.
    Svg,
    /// A picture of pixels.
    #[cfg(feature = "png")]
    Png,
    /// A page that shows the numbers under the pointer.
    Html,
}

impl ChartFile {
    /// Returns the kind of a file, by the extension of its name.
    ///
    /// # Errors
    /// When this program writes no such file.
    pub fn at(path: &Path) -> Result<Self, SaveError> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => Ok(Self::Svg),
            #[cfg(feature = "png")]
            Some("png") => Ok(Self::Png),
            #[cfg(not(feature = "png"))]
            Some("png") => Err(SaveError::NoPng {
                path: path.to_owned(),
            }),
            Some("html") => Ok(Self::Html),
            Some(_) | None => Err(SaveError::Extension {
                path: path.to_owned(),
            }),
        }
    }
}

impl Chart {
    /// Returns the chart as an SVG document.
    ///
    /// # Errors
    /// When the drawing engine fails, which would be a bug.
    pub fn svg(&self, theme: ChartTheme) -> Result<String, DrawError> {
        let (option, header) = self.option_with_header();
        let job = json!({
            "option": option,
            "theme": theme.name(),
            "width": self.width,
            "height": f64::from(self.height) + header,
        });
        // A control character in a name, which XML cannot hold, would make the file unreadable.
        engine::draw(&job.to_string()).map(|svg| svg.replace(is_no_xml, "\u{FFFD}"))
    }

    /// Returns the chart as an HTML page that needs no other file and no network.
    pub fn html(&self) -> String {
        let main = html! {
            h1 { (self.title) }
            p { (self.subtitle) }
            div #chart role="img" aria-label=(format!("{}. {}", self.title, self.subtitle))
                style=(format!("height:{}px", self.height)) {}
        };
        let show = "lapwingChart.show(document.getElementById(\"chart\"),charts[0]);";
        chart_page(&self.title, "", &main, std::slice::from_ref(self), show)
    }

    /// Saves the chart; the extension of the path selects the form.
    ///
    /// # Errors
    /// When the path has another extension than `.svg`, `.png` or `.html`, or cannot be
    /// written.
    pub fn save(&self, path: &Path) -> Result<(), SaveError> {
        let bytes = match ChartFile::at(path)? {
            ChartFile::Svg => self.svg(ChartTheme::Light)?.into_bytes(),
            #[cfg(feature = "png")]
            ChartFile::Png => self.png(ChartTheme::Light)?,
            ChartFile::Html => self.html().into_bytes(),
        };
        write(path, &bytes)
    }

    /// Returns the option with title and subtitle in it, and how high these are.
    fn option_with_header(&self) -> (Value, f64) {
        let width = f64::from(self.width) - 2.0 * MARGIN;
        let title = font::wrap(&self.title, TITLE_SIZE, width);
        let subtitle = font::wrap(&self.subtitle, SUBTITLE_SIZE, width);
        let header =
            12.0 + TITLE_LINE * as_f64(title.len()) + SUBTITLE_LINE * as_f64(subtitle.len()) + 6.0;
        let mut option = self.option.clone();
        if let Some(object) = option.as_object_mut() {
            object.insert(
                "title".to_owned(),
                json!({
                    "text": title.join("\n"),
                    "subtext": subtitle.join("\n"),
                    "left": MARGIN,
                    "top": 10,
                    "padding": 0,
                    "itemGap": 4,
                    "textStyle": {"fontSize": TITLE_SIZE, "lineHeight": TITLE_LINE, "fontWeight": "normal"},
                    "subtextStyle": {"fontSize": SUBTITLE_SIZE, "lineHeight": SUBTITLE_LINE},
                }),
            );
            for part in ["grid", "legend", "series"] {
                // A chart of several plots has a list of them.
                let parts = match object.get_mut(part) {
                    Some(Value::Array(parts)) => parts.as_mut_slice(),
                    Some(part) => std::slice::from_mut(part),
                    None => &mut [],
                };
                for top in parts.iter_mut().filter_map(|part| part.get_mut("top")) {
                    *top = json!(top.as_f64().unwrap_or(0.0) + header);
                }
            }
        }
        (option, header)
    }
}

pub(in crate::chart) fn write(path: &Path, bytes: &[u8]) -> Result<(), SaveError> {
    lapwing_record::atomic::replace(path, bytes).map_err(|source| SaveError::Write {
        path: path.to_owned(),
        source,
    })
}

fn is_no_xml(character: char) -> bool {
    let is_control = character.is_control() && !matches!(character, '\t' | '\n' | '\r');
    is_control || matches!(character, '\u{FFFE}' | '\u{FFFF}')
}
