//! Draws a chart without a browser: ECharts inside QuickJS, one engine a thread.

use std::cell::RefCell;

use rquickjs::{CatchResultExt, Context, Ctx, Function, Runtime};

use super::font;

/// ECharts itself, for this engine and for pages.
pub(crate) const ECHARTS: &str = include_str!("../../../assets/echarts/echarts.min.js");

/// The script that completes chart definitions, for this engine and for pages.
pub(crate) const CHART_SCRIPT: &str = include_str!("../../../assets/chart.js");

/// Something inside the drawing engine went wrong: a bug, never the user's doing.
#[derive(Debug, thiserror::Error)]
#[error("the chart could not be drawn: {message}")]
pub struct DrawError {
    /// The message of the engine.
    pub message: String,
}

impl DrawError {
    pub(in crate::chart) fn new(message: impl std::fmt::Display) -> Self {
        Self {
            message: message.to_string(),
        }
    }
}

thread_local! {
    static ENGINE: RefCell<Option<ChartEngine>> = const { RefCell::new(None) };
}

struct ChartEngine {
    context: Context,
    _runtime: Runtime,
}

impl ChartEngine {
    fn load() -> Result<Self, DrawError> {
        let runtime = Runtime::new().map_err(DrawError::new)?;
        runtime.set_max_stack_size(1024 * 1024);
        let context = Context::full(&runtime).map_err(DrawError::new)?;
        context.with(|context| {
            let measure = Function::new(context.clone(), |text: String, size: f64| {
                font::text_width(&text, size)
            })
            .map_err(DrawError::new)?;
            context
                .globals()
                .set("lapwingTextWidth", measure)
                .map_err(DrawError::new)?;
            evaluate::<()>(&context, ECHARTS)?;
            evaluate::<()>(&context, CHART_SCRIPT)?;
            evaluate::<()>(&context, "lapwingChart.prepareEngine()")
        })?;
        Ok(Self {
            context,
            _runtime: runtime,
        })
    }

    fn draw(&self, job: &str) -> Result<String, DrawError> {
        self.context.with(|context| {
            let draw: Function<'_> = context
                .eval("(job) => lapwingChart.draw(JSON.parse(job))")
                .catch(&context)
                .map_err(DrawError::new)?;
            draw.call((job,)).catch(&context).map_err(DrawError::new)
        })
    }
}

fn evaluate<'js, T: rquickjs::FromJs<'js>>(
    context: &Ctx<'js>,
    script: &str,
) -> Result<T, DrawError> {
    context.eval(script).catch(context).map_err(DrawError::new)
}

/// Returns the SVG of a job: `{"option", "theme", "width", "height"}` as JSON.
///
/// The engine is loaded once for each thread that draws.
pub(in crate::chart) fn draw(job: &str) -> Result<String, DrawError> {
    ENGINE.with_borrow_mut(|slot| {
        let engine = match slot.take() {
            Some(engine) => engine,
            None => ChartEngine::load()?,
        };
        let drawn = engine.draw(job);
        // An engine that failed may be in any state: the next chart gets a new one.
        if drawn.is_ok() {
            *slot = Some(engine);
        }
        drawn
    })
}
