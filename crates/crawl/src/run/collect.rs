//! Pages of the collection on their way to the index: what waits is written, what others changed is read again.

use super::answers::Ended;
use super::archives::Archives;
use super::crawl::Crawl;
use super::reread::Rereader;
use super::visit::AnswerKind;
use crate::collection::{PageFacts, Write};
use crate::error::CrawlError;
use crate::frontier::{Refusal, State};
use crate::reading::Reading;
use web::address::CanonicalUrl;

/// Pages read again at a time.
const BATCH_PAGES: usize = 512;

impl Crawl {
    /// Notes a page that was read. Its document is written if it is new.
    pub(super) fn collect_page(
        &mut self,
        visit: &Ended<'_>,
        reading: Reading,
        templates: u64,
        is_new: bool,
    ) -> Result<(), CrawlError> {
        let url = visit.url.as_str();
        let facts = PageFacts::of(url, &reading, visit.place);
        let document = reading.document.filter(|_| is_new);
        self.collection.page(&facts, document, templates)?;
        if self.collection.is_learning_due() {
            self.collection.learn_templates()?;
        }
        if self.collection.is_full() {
            self.collection.drop_new_documents();
        }
        match self.collection.is_full() {
            true => self.write_pending(),
            false => Ok(()),
        }
    }

    /// Whether another page of the host has the text of an answer.
    pub(super) fn repeats(&self, url: &CanonicalUrl, answer: &AnswerKind) -> bool {
        match answer {
            AnswerKind::Page(reading, _) => {
                self.collection.is_repeated(url.as_str(), reading.text_hash)
            }
            _ => false,
        }
    }

    /// Gives the index everything that a commit needs.
    pub(super) fn collect(&mut self, settles: bool) -> Result<(), CrawlError> {
        let again = match settles {
            true => self.collection.settle()?,
            false => self.collection.take_awaiting()?,
        };
        let mut lost = 0;
        for batch in again.chunks(BATCH_PAGES) {
            let reader = Rereader {
                archives: &Archives::of(&self.storage),
                sites: &self.sites,
                product_token: &self.context.product_token,
            };
            for (hash, read) in reader.read(&self.collection, batch)? {
                match read {
                    Some((document, templates)) => {
                        self.collection.read_again(hash, document, templates);
                    }
                    None => lost += 1,
                }
            }
            if self.collection.is_full() {
                self.write_pending()?;
            }
        }
        if lost > 0 {
            let told = format!("{lost} pages cannot be read again from the archive");
            self.progress.notice(told);
        }
        self.learn_parameters();
        self.progress.duplicates = self.collection.duplicates_count();
        self.write_pending()
    }

    /// Strips URLs of parameters learnt to be without effect.
    fn learn_parameters(&mut self) {
        let mut new = Vec::new();
        for (origin, name) in self.collection.learnt_parameters() {
            let learnt = (origin.clone(), name.clone());
            if !self.state.learnt_parameters.contains(&learnt) {
                new.push(learnt);
            }
        }
        for (origin, name) in &new {
            self.progress.notice(format!(
                "{origin}: the parameter {name} of its URLs has never changed a text, and is left out from now on"
            ));
        }
        if !new.is_empty() {
            self.state.learnt_parameters.extend(new);
            let mut sites = (*self.sites).clone();
            sites.learn(&self.state.learnt_parameters);
            self.sites = std::sync::Arc::new(sites);
        }
    }

    /// Sends what waits to the index.
    pub(super) fn write_pending(&mut self) -> Result<(), CrawlError> {
        for write in self.collection.take_writes() {
            self.index(|indexing| match write {
                Write::Add(document) => indexing.add(document.unpacked()),
                Write::Delete(url) => indexing.delete(url),
            })?;
        }
        Ok(())
    }
}

/// Whether the page forbids indexing; an unchanged page still does.
pub(super) fn says_noindex(state: State) -> bool {
    state == State::Refused(Refusal::NoIndex)
}

/// Whether the page was fetched, and left out of the index because of its contents.
pub(super) fn is_withheld(state: State) -> bool {
    matches!(state, State::Refused(Refusal::NoIndex | Refusal::Duplicate))
}
