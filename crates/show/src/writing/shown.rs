//! An answer as notebooks show it: its text, its table and its pictures beside its JSON.

use serde::Serialize;
use serde_json::Value;

use super::{Answer, AnswerFormat, AnswerRequest, WriteError, write_answer};
use crate::chart::{Chart, ChartTheme, charts_page};

/// More charts than this are on the page alone.
const PICTURES: usize = 3;

#[derive(Debug, Serialize)]
struct ShownAnswer {
    markdown: String,
    csv: String,
    pictures: Vec<ShownPicture>,
    /// A page with all charts, which respond to the pointer.
    page: Option<String>,
    charts: usize,
}

#[derive(Debug, Serialize)]
struct ShownPicture {
    title: String,
    svg: String,
}

/// Returns an answer for programs with one more field, `shown`.
pub(super) fn with_shown(
    answer: &dyn Answer,
    enveloped: &impl Serialize,
    request: AnswerRequest<'_>,
) -> Result<Value, WriteError> {
    let text = |format| {
        let mut bytes = Vec::new();
        let request = AnswerRequest {
            format,
            room: None,
            is_shown: false,
            ..request
        };
        write_answer(answer, request, &mut bytes)?;
        Ok::<_, WriteError>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let charts = answer.charts();
    let picture = |chart: &Chart| {
        Ok(ShownPicture {
            title: format!("{}. {}", chart.title, chart.subtitle),
            svg: chart.svg(ChartTheme::Light)?,
        })
    };
    let shown = ShownAnswer {
        markdown: text(AnswerFormat::Markdown)?,
        csv: text(AnswerFormat::Csv)?,
        pictures: charts
            .iter()
            .take(PICTURES)
            .map(picture)
            .collect::<Result<_, WriteError>>()?,
        page: match charts.as_slice() {
            [] => None,
            [chart] => Some(chart.html()),
            several => Some(charts_page(answer.kind().name, several)),
        },
        charts: charts.len(),
    };
    let mut value = serde_json::to_value(enveloped)?;
    if let Value::Object(fields) = &mut value {
        fields.insert("shown".to_owned(), serde_json::to_value(shown)?);
    }
    Ok(value)
}
