//! Document of a page: title, main text, boilerplate, stated facts.

use super::answer::Answer;
use document::Document;
use json::{Map, Value};
use web::address::CanonicalUrl;
use web::page::{HostTemplates, Page};

/// Upper limit on the boilerplate that a document keeps, in bytes.
const BOILERPLATE_BYTES_MAX: usize = 8 << 10;

/// Returns the document of a page, without the blocks that its host repeats.
pub(super) fn page_document(
    answer: &Answer<'_>,
    page: &mut Page,
    main: String,
    templates: Option<&HostTemplates>,
) -> Document {
    let has_main = page.blocks.iter().any(|block| block.is_main);
    if let Some(templates) = templates {
        page.apply_templates(templates);
        if !page.has_main_text() {
            page.choose_rest(templates);
        }
    }
    // A page of templates alone keeps its text: better a menu than nothing.
    let main = match page.main_text() {
        text if text.trim().is_empty() => main,
        text => text,
    };
    let boilerplate = has_main.then(|| cut(page.boilerplate_text(), BOILERPLATE_BYTES_MAX));
    let title = page.title.clone().unwrap_or_default();
    let breadcrumbs = (!page.breadcrumbs.is_empty()).then(|| page.breadcrumbs.join(" › "));
    let language = page.language.clone();
    let language = language.or_else(|| answer.language.map(str::to_owned));
    let fields = [
        ("lang", language.map(|tag| tag.to_ascii_lowercase())),
        ("date", page.published.as_deref().and_then(date)),
        ("author", page.author.clone()),
        ("description", page.description.clone()),
        ("breadcrumbs", breadcrumbs),
        ("boilerplate", boilerplate),
    ];
    document(answer.url, title, main, fields)
}

/// Cuts a text at a character's end.
fn cut(mut text: String, bytes_max: usize) -> String {
    let end = (0..=bytes_max.min(text.len())).rev();
    let end = end.into_iter().find(|&end| text.is_char_boundary(end));
    text.truncate(end.unwrap_or(0));
    text
}

/// Returns a date in the form that fields take: RFC 3339, or the date alone; `None` for other forms.
fn date(written: &str) -> Option<String> {
    let written = written.trim();
    if let Ok(instant) = written.parse::<jiff::Timestamp>() {
        return Some(instant.to_string());
    }
    let date: jiff::civil::Date = written.get(..10)?.parse().ok()?;
    Some(date.to_string())
}

pub(super) fn document<const N: usize>(
    url: &CanonicalUrl,
    title: String,
    body: String,
    fields: [(&str, Option<String>); N],
) -> Document {
    let fields: Map<String, Value> = fields
        .into_iter()
        .filter_map(|(name, value)| {
            let value = value.map(|value| value.trim().to_owned());
            Some((
                name.to_owned(),
                Value::String(value.filter(|value| !value.is_empty())?),
            ))
        })
        .collect();
    let title = match title.trim() {
        "" => url.path().to_owned(),
        title => title.to_owned(),
    };
    Document {
        url: url.as_str().to_owned(),
        title,
        body,
        fields,
        ..Document::default()
    }
}
