//! Summaries of the hits: asked for by the hash of their URLs, and compared with the URLs of the details.

use super::{Places, Showing, Texts, as_many, by_part};
use crate::calls::{SummariesOf, SummariesRequest, TextSummary};
use crate::coordinator::call::{Call, Replied};
use crate::coordinator::coverage::SUMMARIES;
use crate::coordinator::layout::Layout;
use crate::coordinator::scope::Scope;
use std::sync::Arc;

impl Showing {
    /// Asks for the texts of hits, by the hash of their URLs, or again by the URLs.
    pub(super) fn ask_texts(&mut self, places: Places, scope: Scope<'_>) -> Call {
        let Scope {
            prepared,
            layout,
            limits,
        } = scope;
        let page = &self.found.page;
        let part = |place: usize| layout.texts_of(page[place].hit.url_hash);
        let asked = by_part(places, layout.texts_count(), part);
        let of = |places: &Places| match self.texts {
            Texts::Asked => {
                let hash = |&place: &usize| page[place].hit.url_hash;
                SummariesOf::UrlHashes(places.iter().map(hash).collect())
            }
            _ => {
                let url = |&place: &usize| self.url(place).unwrap_or_default().to_owned();
                SummariesOf::Urls(places.iter().map(url).collect())
            }
        };
        let request = |(part, places): &(usize, Places)| {
            let request = SummariesRequest {
                query_id: prepared.query.id,
                of: of(places),
                fields: prepared.options.returned.hits.has_fields(),
                terms: Arc::clone(&self.terms),
                generation: self.found.generation,
                deadline: limits.deadline,
            };
            (*part, request)
        };
        let requests = asked.iter().map(request).collect();
        self.asked_texts = asked;
        Call::Summaries(requests)
    }

    pub(super) fn take_texts(
        &mut self,
        replies: Vec<Replied<Vec<Option<TextSummary>>>>,
        layout: &dyn Layout,
    ) {
        for ((part, places), reply) in std::mem::take(&mut self.asked_texts).iter().zip(replies) {
            match reply.and_then(|texts| as_many(texts, places.len(), "summaries")) {
                Ok(texts) => {
                    for (&place, text) in places.iter().zip(texts) {
                        self.given[place] = Some(text);
                    }
                }
                Err(error) => self
                    .losses
                    .push((SUMMARIES, layout.text_chunks_of(*part), error)),
            }
        }
        self.texts = match self.texts {
            Texts::Asked => Texts::Came,
            _ => Texts::Checked,
        };
    }

    fn url(&self, place: usize) -> Option<&str> {
        let hit = self.details[place].as_ref();
        hit.map(|hit| hit.details.url.as_str())
    }

    /// Keeps the texts fetched by hash that belong to the hits. Where another URL has the same hash, its text may have
    /// come; the right text is then asked for by URL.
    pub(super) fn check_texts(&mut self, scope: Scope<'_>) -> Option<Call> {
        let is_other = |&place: &usize| match (&self.given[place], self.url(place)) {
            (Some(Some(text)), Some(url)) => !text.url.is_empty() && text.url != url,
            _ => false,
        };
        let others: Places = (0..self.given.len()).filter(is_other).collect();
        if others.is_empty() {
            self.texts = Texts::Checked;
            return None;
        }
        self.texts = Texts::AskedAgain;
        for &place in &others {
            self.given[place] = None;
        }
        Some(self.ask_texts(others, scope))
    }
}
