//! Priors of fields and of rules on the grid of a plan, and those of the documents of one segment.
//!
//! A hit scores the sum of its clauses and its priors. Clauses and priors lie on one grid, so the sum is exact. Algorithms
//! search by clauses alone; the collector adds the priors, and lowers the threshold that it raises by their upper bound
//! ([`crate::Context::raise`]), so no document that its priors could lift is left out.

use crate::plan::ranking::on_grid;
use fields::{Prior, PriorOf, Priors, QueryPrior, Test, Value, of_age};
use index::{CodeRange, Column, DocId, IndexError, Segment, SiteNames};
use smallvec::SmallVec;
use std::sync::Arc;

/// Priors of a plan: those of the fields of an index, and those of its rules.
#[derive(Debug)]
pub(crate) struct PlannedPriors {
    of_fields: Arc<Priors>,
    of_rules: Vec<QueryPrior>,
    grid: f32,
    most: f32,
}

/// Codes of a column up to which a search computes the priors of all of them first.
const CODES_MAX: u64 = 64;

/// Prior in a segment.
#[derive(Debug, Clone)]
pub(crate) enum SegmentPrior<'a> {
    /// One that a number or a date decides.
    Value(Box<ValuePrior<'a>>),
    /// One of what passes a test: its weight on the grid.
    Passes {
        field: &'a str,
        test: &'a Test,
        column: Column<'a>,
        range: CodeRange,
        weight: f32,
    },
    /// One of a site and its subdomains: its weight on the grid.
    Site {
        site: &'a str,
        segment: &'a Segment,
        names: &'a SiteNames,
        weight: f32,
    },
}

/// Prior by the values of a field in a segment.
#[derive(Debug, Clone)]
pub(crate) struct ValuePrior<'a> {
    pub(crate) name: &'a str,
    pub(crate) by: ByValue,
    column: Column<'a>,
    grid: f32,
    /// Priors by code, of a column of few codes; otherwise empty.
    by_code: SmallVec<[f32; CODES_MAX as usize + 1]>,
}

/// Function of a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ByValue {
    /// That of a number.
    Saturating(Prior),
    /// That of a date.
    Age {
        weight: f32,
        now_us: i64,
        half_us: f64,
    },
}

/// Priors of the documents of a segment.
#[derive(Debug, Clone, Default)]
pub(crate) struct SegmentPriors<'a>(SmallVec<[SegmentPrior<'a>; 1]>);

impl PlannedPriors {
    /// Returns priors whose grid is not known yet.
    pub(crate) fn new(of_fields: &Arc<Priors>, of_rules: Vec<QueryPrior>) -> PlannedPriors {
        PlannedPriors {
            of_fields: Arc::clone(of_fields),
            of_rules,
            grid: 0.0,
            most: 0.0,
        }
    }

    /// Returns the upper bound on what priors add to a score, before it is on a grid.
    pub(crate) fn most_off_grid(&self) -> f64 {
        self.weights().map(f64::from).sum()
    }

    /// Puts the priors on a grid.
    pub(crate) fn on_grid(self, grid: f32) -> PlannedPriors {
        PlannedPriors {
            most: self.weights().map(|weight| on_grid(weight, grid)).sum(),
            grid,
            ..self
        }
    }

    fn weights(&self) -> impl Iterator<Item = f32> {
        let of_fields = self.of_fields.iter().map(|(_, prior)| prior.weight);
        of_fields.chain(self.of_rules.iter().map(|prior| prior.weight))
    }

    /// Returns whether nothing has a prior.
    pub(crate) fn is_empty(&self) -> bool {
        self.of_fields.is_empty() && self.of_rules.is_empty()
    }

    /// Returns the upper bound on what priors add to a score.
    pub(crate) fn most(&self) -> f32 {
        self.most
    }

    /// Opens the columns of a segment. Fields without a value there add nothing.
    pub(crate) fn open<'a>(
        &'a self,
        segment: &'a Segment,
    ) -> Result<SegmentPriors<'a>, IndexError> {
        let mut priors = SmallVec::new();
        for (name, prior) in self.of_fields.iter() {
            if let Some(column) = segment.column(name)? {
                let by = ByValue::Saturating(prior);
                priors.push(ValuePrior::open(name, by, column, self.grid));
            }
        }
        for prior in &self.of_rules {
            priors.extend(open_rule(prior, segment, self.grid)?);
        }
        Ok(SegmentPriors(priors))
    }
}

/// Opens a prior of rules in a segment; `None` where it adds nothing.
fn open_rule<'a>(
    prior: &'a QueryPrior,
    segment: &'a Segment,
    grid: f32,
) -> Result<Option<SegmentPrior<'a>>, IndexError> {
    let weight = prior.weight;
    Ok(match &prior.of {
        PriorOf::Passes { field, test } => segment.column(field)?.and_then(|column| {
            let range = column.range(test)?;
            Some(SegmentPrior::Passes {
                field,
                test,
                column,
                range,
                weight: on_grid(weight, grid),
            })
        }),
        PriorOf::Site(site) => Some(SegmentPrior::Site {
            site,
            segment,
            names: segment.site_names()?,
            weight: on_grid(weight, grid),
        }),
        PriorOf::Age {
            field,
            now_us,
            half_us,
        } => segment.column(field)?.map(|column| {
            let by = ByValue::Age {
                weight,
                now_us: *now_us,
                half_us: *half_us,
            };
            ValuePrior::open(field, by, column, grid)
        }),
    })
}

impl<'a> SegmentPriors<'a> {
    /// Returns the addition of the priors to the score of a document.
    #[inline]
    pub(crate) fn of(&self, doc: DocId) -> f32 {
        self.0.iter().map(|prior| prior.of(doc)).sum()
    }

    /// Returns the priors: those of fields in the order of their names, then those of rules.
    pub(crate) fn each(&self) -> impl Iterator<Item = &SegmentPrior<'a>> {
        self.0.iter()
    }
}

impl SegmentPrior<'_> {
    /// Returns the addition to the score of a document.
    #[inline]
    pub(crate) fn of(&self, doc: DocId) -> f32 {
        match self {
            SegmentPrior::Value(by_value) => by_value.of(doc),
            SegmentPrior::Passes {
                column,
                range,
                weight,
                ..
            } => match column.passes(doc, *range) {
                true => *weight,
                false => 0.0,
            },
            SegmentPrior::Site {
                site,
                segment,
                names,
                weight,
            } => match names.name(segment.site_code(names, doc)) {
                Some(name) if is_within(name, site) => *weight,
                _ => 0.0,
            },
        }
    }
}

/// Returns whether a site is another one or a subdomain of it.
fn is_within(name: &str, site: &str) -> bool {
    let before = name.strip_suffix(site);
    before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

impl<'a> ValuePrior<'a> {
    fn open(name: &'a str, by: ByValue, column: Column<'a>, grid: f32) -> SegmentPrior<'a> {
        let mut prior = ValuePrior {
            name,
            by,
            column,
            grid,
            by_code: SmallVec::new(),
        };
        let codes_count = prior.column.codes_count();
        if codes_count <= CODES_MAX {
            prior.by_code = (0..=codes_count).map(|code| prior.of_code(code)).collect();
        }
        SegmentPrior::Value(Box::new(prior))
    }

    /// Returns the addition of a document's value to its score.
    #[inline]
    fn of(&self, doc: DocId) -> f32 {
        let code = self.code(doc);
        match self.by_code.get(code as usize) {
            Some(prior) => *prior,
            None => self.of_code(code),
        }
    }

    /// Returns the value of a document, the greatest of several.
    pub(crate) fn value(&self, doc: DocId) -> Option<Value> {
        self.column.value(self.code(doc))
    }

    /// Returns the greatest code of a document; 0 where it has none.
    #[inline]
    fn code(&self, doc: DocId) -> u64 {
        match self.column.has_lists() {
            true => self.column.ends(doc).map_or(0, |(_, greatest)| greatest),
            false => self.column.code(doc),
        }
    }

    fn of_code(&self, code: u64) -> f32 {
        let added = match (self.by, self.column.value(code)) {
            (ByValue::Saturating(prior), Some(Value::Integer(value))) => prior.of(value as f64),
            (ByValue::Saturating(prior), Some(Value::Float(value))) => prior.of(value),
            (
                ByValue::Age {
                    weight,
                    now_us,
                    half_us,
                },
                Some(Value::Date(date_us)),
            ) => of_age(weight, now_us, half_us, date_us),
            _ => 0.0,
        };
        on_grid(added, self.grid)
    }
}
