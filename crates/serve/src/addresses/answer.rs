//! Answers with addresses as shown.

use super::map::longest_first;
use super::{AddressMap, Addresses, is_of_file, sites};
use engine::SearchError;
use fields::facet::SITE;
use index::StoredDocument;
use serde_json::Value;
use wire::{FacetAnswer, Hit, SearchAnswer};

impl Addresses {
    /// Shows the addresses of an answer to the query `typed`, whose hits are in the order `sort`.
    ///
    /// # Errors
    /// A cursor that would tell the folder of a file.
    pub(crate) fn show(
        &self,
        answer: &mut SearchAnswer,
        typed: &str,
        sort: &str,
    ) -> Result<(), SearchError> {
        let by_site: Vec<bool> = sort.split(',').map(is_by_site).collect();
        let is_of_file = |hit: &Hit| is_of_file(&hit.url);
        if answer.after.is_some() && by_site.contains(&true) && answer.hits.iter().any(is_of_file) {
            return Err(SearchError::BadRequest {
                parameter: "after",
                reason: "a cursor of hits in the order of their sites has the site of the last one, which here is a folder \
                         of the server; page by start"
                    .into(),
            });
        }
        answer.query = typed.to_owned();
        for hit in &mut answer.hits {
            self.show_hit(hit, &by_site);
        }
        for facet in &mut answer.facets {
            self.show_facet(facet);
        }
        if let Some(better) = &mut answer.did_you_mean {
            better.query = self.shown_query(&better.query);
        }
        if let Some(corrected) = &mut answer.corrected {
            *corrected = self.shown_query(corrected);
        }
        for warning in &mut answer.warnings {
            *warning = self.without_folders(warning);
        }
        Ok(())
    }

    /// Shows the addresses of a document.
    pub(crate) fn show_document(&self, document: &mut StoredDocument) {
        let shown = self.shown(&document.url).into_owned();
        put(shown, &mut document.url, &mut document.id);
    }

    fn show_hit(&self, hit: &mut Hit, by_site: &[bool]) {
        if is_of_file(&hit.url) || !hit.site.starts_with('/') {
            hit.site = self.shown_site(&hit.site).into_owned();
        }
        for (value, &is_site) in hit.sort.iter_mut().zip(by_site) {
            if let Value::String(site) = value
                && is_site
            {
                *site = self.shown_site(site).into_owned();
            }
        }
        if let Some(explanation) = &mut hit.explanation {
            self.show_explanation(explanation);
        }
        let shown = self.shown(&hit.url).into_owned();
        put(shown, &mut hit.url, &mut hit.id);
    }

    fn show_facet(&self, facet: &mut FacetAnswer) {
        let is_site = facet.field == SITE;
        for bucket in &mut facet.buckets {
            if let Value::String(site) = &mut bucket.value
                && is_site
            {
                let shown = self.shown_site(site).into_owned();
                // A site whose folder is not told cannot be asked for.
                bucket.filter = match shown.starts_with('…') {
                    true => String::new(),
                    false => self.shown_query(&bucket.filter),
                };
                *site = shown;
            }
            for within in &mut bucket.facets {
                self.show_facet(within);
            }
        }
    }

    /// Shows the names of sites in the texts of an explanation.
    fn show_explanation(&self, explanation: &mut Value) {
        match explanation {
            Value::String(text) => *text = self.without_folders(text),
            Value::Array(parts) => parts
                .iter_mut()
                .for_each(|part| self.show_explanation(part)),
            Value::Object(parts) => {
                let parts = parts.iter_mut();
                parts.for_each(|(_, part)| self.show_explanation(part));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn shown_query(&self, query: &str) -> String {
        let shown = |site: &str| {
            let shown = self.shown_site(site);
            (shown != site).then(|| shown.into_owned())
        };
        sites::renamed(query, shown).into_owned()
    }

    /// Returns a text about a query with the names of folders as shown: those that the query was translated to.
    fn without_folders(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for map in &self.maps {
            if let Some(path) = map.own_path().filter(|path| !path.is_empty()) {
                text = text.replace(path, map.to_site());
            }
        }
        text
    }
}

/// Shows the addresses of an answer by rules alone: what none fits stays as it is in the index.
pub fn show_mapped(maps: &[AddressMap], answer: &mut SearchAnswer) {
    let maps = longest_first(maps);
    for hit in &mut answer.hits {
        if let Some(shown) = maps.iter().find_map(|map| map.shown(&hit.url)) {
            put(shown, &mut hit.url, &mut hit.id);
        }
    }
}

/// Puts an address as shown in place of a document's own, and of its id where it has no other.
fn put(shown: String, url: &mut String, id: &mut String) {
    if id == url {
        id.clone_from(&shown);
    }
    *url = shown;
}

/// Returns whether an entry of an order is the site.
fn is_by_site(entry: &str) -> bool {
    let name = entry.split(':').next().unwrap_or(entry);
    name.trim().trim_start_matches('-') == SITE
}
