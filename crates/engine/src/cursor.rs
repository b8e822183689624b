//! Cursor: the place of a page's last hit, as a text from which the next page goes on.
//!
//! ```text
//! cursor := version:u8 = 1  index:u32le  generation:u64le  hits_before:u64le  score:u32le  url_hash:u64le
//!           count:u8 value{count}  check:u32le                                           in hexadecimal digits
//! value  := 0                       no value
//!         | 1 length:u16le bytes    keyword
//!         | 2 number:i64le          integer       | 3 bits:u64le   float
//!         | 4 truth:u8              bool          | 5 micros:i64le date
//! ```
//!
//! The check covers the cursor, the query and whatever else decides the order, so a cursor of another query is refused.

use crate::error::BadRequest;
use crate::options::SearchOptions;
use fields::Value;
use search::{After, ScoredHit};
use std::fmt::Write;
use xxhash_rust::xxh3::xxh3_64;

/// Value of `after` that begins a sequence of pages.
pub const CURSOR_FIRST: &str = "*";

/// Version of the form.
const VERSION: u8 = 1;
/// Bytes of the check.
const CHECK_BYTES: usize = 4;

/// Place of the last hit of a page.
#[derive(Debug, Clone, PartialEq)]
struct Cursor {
    /// Hash of the index's identity.
    index: u32,
    /// Generation of the index that the page is of.
    generation: u64,
    /// Number of hits up to the place.
    hits_before: u64,
    /// The place in the order of hits.
    after: After,
}

/// Cursors of a search that requests them: the one from which its page goes on, and the one of its last hit.
#[derive(Debug, Clone, PartialEq)]
pub struct Cursors {
    /// Place from which the page goes on; none where a sequence of pages begins.
    from: Option<Cursor>,
    /// Whatever decides the order of the hits, as a text.
    bound_to: String,
}

/// Start of a page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageStart {
    /// Hits of the search before the page.
    pub start: usize,
    /// Place after which hits are wanted; without one, the hits are those of the whole order.
    pub after: Option<After>,
}

/// Index at one of its generations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch<'a> {
    /// Identity of the index.
    pub index_id: &'a str,
    /// Generation.
    pub generation: u64,
}

impl Cursors {
    /// Reads the cursor of a search; `None` where it asks for none.
    ///
    /// # Errors
    /// No cursor, or one of another query.
    pub(crate) fn of(text: &str, options: &SearchOptions) -> Result<Option<Cursors>, BadRequest> {
        let refused = |reason: &str| BadRequest {
            parameter: "after",
            reason: reason.to_owned(),
        };
        let Some(after) = options.after.as_deref().map(str::trim) else {
            return Ok(None);
        };
        if options.start > 0 {
            return Err(refused("it says where the page begins; leave start out"));
        }
        let bound_to = bound_to(text, options);
        let from = match after {
            "" | CURSOR_FIRST => None,
            after => Some(Cursor::read(after, &bound_to).ok_or_else(|| {
                refused(
                    "this is no cursor of this query with these filters, this order, and this limit of hits per \
                     site or collapse; begin with after=*",
                )
            })?),
        };
        Ok(Some(Cursors { from, bound_to }))
    }

    /// Returns where the page begins. Where no hits are limited per site or collapsed, and in one ranking, the hits before need not be
    /// found again.
    ///
    /// # Errors
    /// A page that is deeper than paging goes where they must.
    pub fn page_start(
        &self,
        options: &SearchOptions,
        has_some_words: bool,
    ) -> Result<PageStart, BadRequest> {
        let Some(from) = &self.from else {
            return Ok(PageStart::default());
        };
        if options.per_site == 0 && options.collapse.is_empty() && !has_some_words {
            return Ok(PageStart {
                start: 0,
                after: Some(from.after.clone()),
            });
        }
        let start = usize::try_from(from.hits_before).unwrap_or(usize::MAX);
        match options.depth_max {
            Some(depth_max) if start.saturating_add(options.k) > depth_max => Err(BadRequest {
                parameter: "after",
                reason: format!(
                    "pages of hits that are limited per site, collapsed, or hold only some of the words, end at hit \
                     {depth_max}; with per_site=0 and words=all, and without collapse, they go on"
                ),
            }),
            _ => Ok(PageStart { start, after: None }),
        }
    }

    /// Returns the generation that the page before is of; 0 for none.
    pub fn generation(&self) -> u64 {
        self.from.as_ref().map_or(0, |from| from.generation)
    }

    /// Returns whether the page may repeat hits or lose some: it is of another generation than the page before, and
    /// begins at a score, which any change of the index moves, or at a number of hits.
    pub fn is_moved(&self, epoch: Epoch<'_>, start: &PageStart) -> bool {
        let is_value = (start.after.as_ref()).is_some_and(|after| !after.values.is_empty());
        let is_other = |from: &Cursor| {
            (from.index, from.generation) != (identity(epoch.index_id), epoch.generation)
        };
        !is_value && self.from.as_ref().is_some_and(is_other)
    }

    /// Returns the cursor of a page's last hit, given the values by which it is sorted.
    pub fn next(
        &self,
        last: &ScoredHit,
        values: Vec<Option<Value>>,
        hits_count: usize,
        epoch: Epoch<'_>,
    ) -> String {
        let before = self.from.as_ref().map_or(0, |from| from.hits_before);
        let next = Cursor {
            index: identity(epoch.index_id),
            generation: epoch.generation,
            hits_before: before.saturating_add(hits_count as u64),
            after: After {
                score: last.score,
                values,
                url_hash: last.url_hash,
            },
        };
        next.text(&self.bound_to)
    }
}

/// Returns the hash of an index's identity.
fn identity(index_id: &str) -> u32 {
    xxh3_64(index_id.as_bytes()) as u32
}

impl Cursor {
    fn text(&self, bound_to: &str) -> String {
        let mut bytes = vec![VERSION];
        bytes.extend(self.index.to_le_bytes());
        bytes.extend(self.generation.to_le_bytes());
        bytes.extend(self.hits_before.to_le_bytes());
        bytes.extend(self.after.score.to_bits().to_le_bytes());
        bytes.extend(self.after.url_hash.to_le_bytes());
        bytes.push(u8::try_from(self.after.values.len()).unwrap_or(u8::MAX));
        for value in &self.after.values {
            write_value(value.as_ref(), &mut bytes);
        }
        bytes.extend(check(&bytes, bound_to).to_le_bytes());
        let mut text = String::with_capacity(bytes.len() * 2);
        for byte in bytes {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    fn read(text: &str, bound_to: &str) -> Option<Cursor> {
        let digits = text.as_bytes();
        if !digits.len().is_multiple_of(2) {
            return None;
        }
        let digit = |byte: u8| (byte as char).to_digit(16);
        let bytes = digits.chunks_exact(2).map(|pair| {
            let (high, low) = (digit(pair[0])?, digit(pair[1])?);
            Some((high * 16 + low) as u8)
        });
        let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
        let (body, end) = bytes.split_at_checked(bytes.len().checked_sub(CHECK_BYTES)?)?;
        if check(body, bound_to).to_le_bytes() != end {
            return None;
        }
        let mut rest = Bytes(body);
        if rest.take::<1>()? != [VERSION] {
            return None;
        }
        let index = u32::from_le_bytes(rest.take()?);
        let generation = u64::from_le_bytes(rest.take()?);
        let hits_before = u64::from_le_bytes(rest.take()?);
        let score = f32::from_bits(u32::from_le_bytes(rest.take()?));
        let url_hash = u64::from_le_bytes(rest.take()?);
        let [count] = rest.take()?;
        let values = (0..count).map(|_| read_value(&mut rest));
        let values = values.collect::<Option<_>>()?;
        (rest.0.is_empty() && !score.is_nan()).then_some(Cursor {
            index,
            generation,
            hits_before,
            after: After {
                score,
                values,
                url_hash,
            },
        })
    }
}

/// Returns whatever decides the order of the hits, as a text.
fn bound_to(query: &str, options: &SearchOptions) -> String {
    let SearchOptions {
        per_site,
        collapse,
        operator,
        ranking,
        filters,
        filter_trees,
        sort,
        ..
    } = options;
    let sort = sort.trim();
    let bound = format!("{query:?} {operator:?} {ranking:?} {per_site:?} {filters:?} {sort}");
    let mut bound = bound;
    if !filter_trees.is_empty() {
        bound = format!("{bound} {filter_trees:?}");
    }
    if !collapse.is_empty() {
        bound = format!("{bound} collapse {collapse}");
    }
    bound
}

fn check(body: &[u8], bound_to: &str) -> u32 {
    let hash = xxh3_64(bound_to.as_bytes());
    let mut all = body.to_vec();
    all.extend(hash.to_le_bytes());
    xxh3_64(&all) as u32
}

fn write_value(value: Option<&Value>, bytes: &mut Vec<u8>) {
    match value {
        None => bytes.push(0),
        Some(Value::Keyword(text)) => {
            bytes.push(1);
            // Keywords are shorter than the length allows.
            bytes.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        Some(Value::Integer(number)) => {
            bytes.push(2);
            bytes.extend(number.to_le_bytes());
        }
        Some(Value::Float(number)) => {
            bytes.push(3);
            bytes.extend(number.to_bits().to_le_bytes());
        }
        Some(Value::Bool(truth)) => bytes.extend([4, u8::from(*truth)]),
        Some(Value::Date(micros)) => {
            bytes.push(5);
            bytes.extend(micros.to_le_bytes());
        }
    }
}

fn read_value(bytes: &mut Bytes<'_>) -> Option<Option<Value>> {
    let [kind] = bytes.take()?;
    Some(Some(match kind {
        0 => return Some(None),
        1 => {
            let length = u16::from_le_bytes(bytes.take()?);
            let (text, rest) = bytes.0.split_at_checked(usize::from(length))?;
            bytes.0 = rest;
            Value::keyword(std::str::from_utf8(text).ok()?)?
        }
        2 => Value::Integer(i64::from_le_bytes(bytes.take()?)),
        3 => Value::float(f64::from_bits(u64::from_le_bytes(bytes.take()?)))?,
        4 => Value::Bool(bytes.take::<1>()? != [0]),
        5 => Value::Date(i64::from_le_bytes(bytes.take()?)),
        _ => return None,
    }))
}

/// Bytes not read yet.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (own, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Option<Value>> {
        prop_oneof![
            Just(None),
            ".{0,20}".prop_map(|text| Some(Value::Keyword(text))),
            any::<i64>().prop_map(|number| Some(Value::Integer(number))),
            any::<f64>().prop_map(Value::float),
            any::<bool>().prop_map(|truth| Some(Value::Bool(truth))),
            any::<i64>().prop_map(|micros| Some(Value::Date(micros))),
        ]
    }

    fn options(after: &str) -> SearchOptions {
        SearchOptions {
            after: Some(after.to_owned()),
            sort: "n:desc".into(),
            ..SearchOptions::default()
        }
    }

    fn read(query: &str, options: &SearchOptions) -> Option<Cursor> {
        let cursors = Cursors::of(query, options).ok()?;
        cursors.and_then(|cursors| cursors.from)
    }

    proptest! {
        #[test]
        fn cursors_come_back_for_their_query_alone(
            values in prop::collection::vec(values(), 0..8),
            (generation, hits_before, score, url_hash) in (any::<u64>(), any::<u64>(), -9f32..9.0, any::<u64>()),
            flipped in any::<prop::sample::Index>(),
        ) {
            let after = After { score, values, url_hash };
            let cursor = Cursor { index: 7, generation, hits_before, after };
            let text = cursor.text(&bound_to("moon", &options("*")));
            prop_assert_eq!(read("moon", &options(&text)), Some(cursor));
            prop_assert_eq!(read("sun", &options(&text)), None);
            let other = SearchOptions { sort: "n".into(), ..options(&text) };
            prop_assert_eq!(read("moon", &other), None);
            let mut damaged = text.into_bytes();
            let at = flipped.index(damaged.len());
            damaged[at] = if damaged[at] == b'0' { b'1' } else { b'0' };
            let damaged = String::from_utf8(damaged).unwrap();
            prop_assert_eq!(read("moon", &options(&damaged)), None);
        }

        #[test]
        fn any_text_is_refused(text in ".{1,80}|[0-9a-f]{2,90}") {
            prop_assume!(text.trim() != "*" && !text.trim().is_empty());
            prop_assert!(Cursors::of("moon", &options(&text)).is_err());
        }
    }

    #[test]
    fn limited_pages_end_and_others_go_on() {
        let epoch = |index_id, generation| Epoch {
            index_id,
            generation,
        };
        let place = |values| Cursors {
            from: Some(Cursor {
                index: identity("one"),
                generation: 3,
                hits_before: 20_000,
                after: After {
                    score: 1.0,
                    values,
                    url_hash: 5,
                },
            }),
            bound_to: String::new(),
        };
        let by_score = place(Vec::new());
        let limited = SearchOptions {
            per_site: 2,
            depth_max: Some(10_000),
            ..SearchOptions::default()
        };
        let error = by_score.page_start(&limited, false).unwrap_err();
        assert!(error.reason.contains("per_site=0"), "{error}");
        let unlimited = SearchOptions {
            per_site: 0,
            ..limited
        };
        assert!(by_score.page_start(&unlimited, true).is_err());
        let start = by_score.page_start(&unlimited, false).unwrap();
        assert_eq!(start.start, 0);
        assert!(!by_score.is_moved(epoch("one", 3), &start));
        assert!(by_score.is_moved(epoch("one", 4), &start));
        assert!(by_score.is_moved(epoch("two", 3), &start));
        let by_value = place(vec![Some(Value::Integer(3))]);
        let start = by_value.page_start(&unlimited, false).unwrap();
        assert!(!by_value.is_moved(epoch("one", 4), &start));
    }
}
