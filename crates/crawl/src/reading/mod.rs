//! Reading of an answer: document, links and directives of a page; URLs of a sitemap or feed.
//!
//! Pure, so that pages read again from WARC files give the documents of the crawl. The templates of the host, which are
//! blocks that its pages repeat, are an argument: they move blocks from the main text into the boilerplate, and nothing else.

mod answer;
mod document;
mod html;
mod read;

pub(crate) use answer::media_type;
pub use answer::{Answer, FoundLink, ReadKind, Reading, TextShape};
pub use read::{read, read_document};
