//! A chart as a PNG file, drawn from its SVG.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;

use super::super::{Chart, ChartTheme};
use super::engine::DrawError;
use super::font::FONT_FILE;

/// Pixels of a PNG for each pixel of the chart, so that it is sharp on a good screen.
const PNG_SCALE: f32 = 2.0;

/// The name by which pictures ask for the font.
const FONT_FAMILY: &str = "Liberation Sans";

static FONTS: LazyLock<Arc<usvg::fontdb::Database>> = LazyLock::new(|| {
    let mut database = usvg::fontdb::Database::new();
    database.load_font_data(FONT_FILE.to_vec());
    database.set_sans_serif_family(FONT_FAMILY);
    Arc::new(database)
});

impl Chart {
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
}
