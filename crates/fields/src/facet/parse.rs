//! Reading of facets.

use super::clause::SITE;
use super::kind::bad;
use super::kinds::FacetKind;
use super::{DEPTH_MAX, Facet, split_list};
use crate::field_type::FieldType;
use crate::schema::Schema;
use crate::test::BadTest;

impl Facet {
    /// Reads a facet of a field of `schema`, or of [`SITE`]. Without a kind, it is the most frequent values, and the
    /// statistics of numbers, and the years of dates.
    pub fn parse(text: &str, schema: &Schema) -> Result<Facet, BadTest> {
        Facet::parse_within(text, schema, DEPTH_MAX)
    }

    /// Reads a facet of at most `depth` levels.
    fn parse_within(text: &str, schema: &Schema, depth: usize) -> Result<Facet, BadTest> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(bad(format!(
                "facets are counted within each other up to {DEPTH_MAX} deep"
            )));
        };
        let (head, within) = parted(text.trim())?;
        let facet = Facet::flat(head, schema)?;
        let Some(within) = within else {
            return Ok(facet);
        };
        if facet.kind.as_buckets().is_none() {
            return Err(bad(format!(
                "`{head}` has no buckets to count `{within}` in"
            )));
        }
        let within: Vec<Facet> = (split_list(within).iter())
            .map(|text| Facet::parse_within(text, schema, depth))
            .collect::<Result<_, _>>()?;
        match within.is_empty() {
            true => Err(bad(format!(
                "`{text}` names no facet in braces, as in site:terms:5{{price:stats}}"
            ))),
            false => Ok(Facet { within, ..facet }),
        }
    }

    /// Reads a facet without braces.
    fn flat(text: &str, schema: &Schema) -> Result<Facet, BadTest> {
        let (field, rest) = match text.split_once(':') {
            Some((field, rest)) => (field.trim(), Some(rest.trim())),
            None => (text.trim(), None),
        };
        let kind = match field {
            SITE => FieldType::Keyword,
            field => schema.get(field).ok_or_else(|| unknown(field, schema))?,
        };
        if !kind.is_columnar() {
            return Err(bad(format!(
                "`{field}` holds long texts, which are not counted"
            )));
        }
        let (name, argument) = match rest.map(|rest| rest.split_once(':').unwrap_or((rest, ""))) {
            Some(both) => both,
            None => (FacetKind::default_of(kind), ""),
        };
        let read = FacetKind::read(kind, name, argument).unwrap_or_else(|| {
            Err(bad(format!(
                "`{name}` is no facet of `{field}`, a field of {kind}: {}",
                FacetKind::offered(kind)
            )))
        });
        Ok(Facet {
            field: field.to_owned(),
            kind: read?,
            within: Vec::new(),
        })
    }
}

/// Parts a facet from those within its buckets, which stand in braces at its end.
fn parted(text: &str) -> Result<(&str, Option<&str>), BadTest> {
    let Some((head, rest)) = text.split_once('{') else {
        return match text.contains('}') {
            true => Err(unmatched(text)),
            false => Ok((text, None)),
        };
    };
    let inner = rest.strip_suffix('}').ok_or_else(|| unmatched(text))?;
    let mut open = 0usize;
    for brace in inner.chars() {
        open = match brace {
            '{' => open + 1,
            '}' => open.checked_sub(1).ok_or_else(|| unmatched(text))?,
            _ => open,
        };
    }
    match (open, head.contains('}')) {
        (0, false) => Ok((head.trim(), Some(inner))),
        _ => Err(unmatched(text)),
    }
}

fn unmatched(text: &str) -> BadTest {
    bad(format!(
        "the braces of `{text}` do not match; facets within buckets are written site:terms:5{{price:stats}}"
    ))
}

fn unknown(field: &str, schema: &Schema) -> BadTest {
    let mut names: Vec<&str> = schema.columnar().map(|(name, _)| name).take(12).collect();
    names.push(SITE);
    bad(format!(
        "there is no field `{field}`; fields are {}",
        names.join(", ")
    ))
}
