//! A chart as a file: SVG, PNG or a page of its own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use lapwing_stats::as_f64;
use maud::html;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;
use serde_json::{Value, json};

use super::super::{Chart, ChartTheme};
use super::engine::{self, DrawError};
use super::font::{self, FONT_FAMILY, FONT_FILE};
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
    /// The file could not be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Pixels of a PNG for each pixel of the chart, so that it is sharp on a good screen.
const PNG_SCALE: f32 = 2.0;

const MARGIN: f64 = 16.0;
const TITLE_SIZE: f64 = 16.0;
const TITLE_LINE: f64 = 22.0;
const SUBTITLE_SIZE: f64 = 12.0;
const SUBTITLE_LINE: f64 = 17.0;

static FONTS: LazyLock<Arc<usvg::fontdb::Database>> = LazyLock::new(|| {
    let mut database = usvg::fontdb::Database::new();
    database.load_font_data(FONT_FILE.to_vec());
    database.set_sans_serif_family(FONT_FAMILY);
    Arc::new(database)
});

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

    /// Returns the chart as a PNG file, two pixels for each pixel of the SVG.
    ///
    /// # Errors
    /// When the drawing engine fails, which would be a bug.
    pub fn png(&self, theme: ChartTheme) -> Result<Vec<u8>, DrawError> {
        let svg = self.svg(theme)?;
        let options = usvg::Options {
            fontdb: Arc::clone(&FONTS),
            font_family: FONT_FAMILY.to_owned(),
            ..usvg::Options::default()
        };
        let tree = usvg::Tree::from_str(&svg, &options).map_err(DrawError::new)?;
        let size = tree
            .size()
            .to_int_size()
            .scale_by(PNG_SCALE)
            .ok_or_else(|| DrawError::new("the picture is too large"))?;
        let mut pixels = Pixmap::new(size.width(), size.height())
            .ok_or_else(|| DrawError::new("the picture is too large"))?;
        resvg::render(
            &tree,
            Transform::from_scale(PNG_SCALE, PNG_SCALE),
            &mut pixels.as_mut(),
        );
        pixels.encode_png().map_err(DrawError::new)
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
        let extension = path
            .extension()
            .and_then(|extension| extension.to_str())
            .map(str::to_ascii_lowercase);
        let bytes = match extension.as_deref() {
            Some("svg") => self.svg(ChartTheme::Light)?.into_bytes(),
            Some("png") => self.png(ChartTheme::Light)?,
            Some("html") => self.html().into_bytes(),
            Some(_) | None => {
                return Err(SaveError::Extension {
                    path: path.to_owned(),
                });
            }
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
    std::fs::write(path, bytes).map_err(|source| SaveError::Write {
        path: path.to_owned(),
        source,
    })
}

fn is_no_xml(character: char) -> bool {
    let is_control = character.is_control() && !matches!(character, '\t' | '\n' | '\r');
    is_control || matches!(character, '\u{FFFE}' | '\u{FFFF}')
}
