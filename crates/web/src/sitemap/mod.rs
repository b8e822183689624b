//! Sitemaps, sitemap indexes, lists of URLs and feeds, as streams of entries.
//!
//! ```text
//! urlset        url{loc lastmod changefreq priority, image news video links}*
//! sitemapindex  sitemap{loc lastmod}*
//! rss, rdf      item{link|guid pubDate}*          feed   entry{link updated}*
//! text          a URL a line                      any of them inside gzip
//! ```
//!
//! Read as leniently as crawler-commons does: wrong nesting, missing `loc`, unknown namespaces. Nothing outside the
//! file is ever read: a document type is refused unless allowed, and then its entities stand for nothing.
//! Memory is that of one entry; limits of the protocol (50,000 entries, 50 MB) are kept and what lies beyond is
//! counted.

mod dates;
mod entry;
mod feeds;
mod reader;
mod scope;
mod source;
mod urls;

pub use dates::{parse_rss_date, parse_w3c_date};
pub use entry::{ChangeFrequency, Entry, Extension, ExtensionKind, Field, Format};
pub use reader::{Counts, Options, SitemapError, SitemapReader};
pub use scope::{SubmissionLevel, in_scope, is_submitted, scope_of};

#[cfg(test)]
mod tests;
