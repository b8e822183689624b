//! Title for a text that is being typed.

/// Title for a text that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SuggestedTitle {
    /// Title as stored, not escaped.
    pub title: String,
    /// HTML: the title, escaped, with `<mark>` around matched words.
    pub title_html: String,
    /// URL of the best document of that title.
    pub url: String,
}

impl SuggestedTitle {
    pub(crate) fn of(title: engine::SuggestedTitle) -> SuggestedTitle {
        SuggestedTitle {
            title: title.title,
            title_html: title.title_html,
            url: title.url,
        }
    }
}
