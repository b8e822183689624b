//! Formats of the web: URLs, robots.txt, sitemaps, WARC files, encodings and pages.
//!
//! Pure: bytes in, values out. Everything here reads hostile input: nothing panics, sizes are bounded,
//! and what was cut or ignored is counted and named.

#![forbid(unsafe_code)]

pub mod address;
#[cfg(feature = "charset")]
pub mod charset;
pub mod duplicates;
#[cfg(feature = "html")]
pub mod page;
pub mod robots;
pub mod sitemap;
pub mod warc;
