//! Counts of facets over the matches of some segments.

use super::facet_error::FacetError;
use super::within::{Counting, Walked};
use crate::collect::DocBits;
use crate::context::cancel::Stop;
use fields::{Facet, FacetCounts};
use index::Segment;
use std::sync::Arc;

/// What is known of the other parts of the index.
#[derive(Debug, Clone, Copy)]
pub enum OtherParts<'a> {
    /// No other part has matches: only the values that a facet shows need be named, and have facets within them.
    None,
    /// Other parts may have matches. Which values are shown, all parts together decide, so facets within values are not
    /// counted.
    Unknown,
    /// Other parts may have matches, and these counts of each facet, of all parts, have the values that are shown.
    Chosen(&'a [FacetCounts]),
}

/// Counts facets over matches, until `stop` is due. [`FacetCounts::is_complete`] says whether facets within values are left.
///
/// # Errors
/// An index that cannot be read; more buckets within buckets than [`fields::facet::WEIGHT_MAX`] allows; cancellation, which only
/// facets within buckets are tested for.
pub fn count_facets(
    facets: &[Facet],
    segments: &[Arc<Segment>],
    matches: &DocBits,
    others: OtherParts<'_>,
    stop: &Stop<'_>,
) -> Result<Vec<FacetCounts>, FacetError> {
    let with_matches = segments.iter();
    let with_matches = with_matches.filter_map(|one| Some((&**one, matches.matches(one.id())?)));
    let mut parts: Vec<Walked<'_>> = with_matches
        .map(|(segment, matches)| Walked::new(segment, matches))
        .collect();
    let is_whole = matches!(others, OtherParts::None);
    let is_only = is_whole && parts.len() == 1;
    let mut counting = Counting::new(is_whole, is_only, stop);
    let counted = facets.iter().enumerate().map(|(at, facet)| {
        let chosen = match others {
            OtherParts::Chosen(chosen) => chosen.get(at),
            OtherParts::None | OtherParts::Unknown => None,
        };
        counting.count(facet, &mut parts, chosen)
    });
    counted.collect()
}

/// Counts one facet over matches. With `is_whole`, no other part of the index has matches.
pub fn count_facet(
    facet: &Facet,
    segments: &[Arc<Segment>],
    matches: &DocBits,
    is_whole: bool,
) -> Result<FacetCounts, FacetError> {
    let others = match is_whole {
        true => OtherParts::None,
        false => OtherParts::Unknown,
    };
    let facets = std::slice::from_ref(facet);
    let counted = count_facets(facets, segments, matches, others, &Stop::default())?;
    Ok(counted.into_iter().next().unwrap_or_default())
}
