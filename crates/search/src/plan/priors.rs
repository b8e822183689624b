//! Priors of an index on the grid of a plan, and those of the documents of one segment.
//!
//! A hit scores the sum of its clauses and its priors. Clauses and priors lie on one grid, so the sum is exact. Algorithms
//! search by clauses alone; the collector adds the priors, and lowers the threshold that it raises by their upper bound
//! ([`crate::Context::raise`]), so no document that its priors could lift is left out.

use crate::plan::ranking::on_grid;
use fields::{Prior, Priors, Value};
use index::{Column, DocId, IndexError, Segment};
use smallvec::SmallVec;
use std::sync::Arc;

/// Priors of an index, for one plan.
#[derive(Debug)]
pub(crate) struct PlannedPriors {
    priors: Arc<Priors>,
    grid: f32,
    most: f32,
}

/// Codes of a column up to which a search computes the priors of all of them first.
const CODES_MAX: u64 = 64;

/// Prior of one field in a segment.
#[derive(Debug, Clone)]
pub(crate) struct FieldPrior<'a> {
    pub(crate) name: &'a str,
    pub(crate) prior: Prior,
    column: Column<'a>,
    grid: f32,
    /// Priors by code, of a column of few codes; otherwise empty.
    by_code: SmallVec<[f32; CODES_MAX as usize + 1]>,
}

/// Priors of the documents of a segment, by field.
#[derive(Debug, Clone, Default)]
pub(crate) struct SegmentPriors<'a>(SmallVec<[FieldPrior<'a>; 1]>);

impl PlannedPriors {
    /// Returns the upper bound on what priors add to a score, before it is on a grid.
    pub(crate) fn most_of(priors: &Priors) -> f64 {
        priors
            .iter()
            .map(|(_, prior)| f64::from(prior.weight))
            .sum()
    }

    pub(crate) fn new(priors: &Arc<Priors>, grid: f32) -> PlannedPriors {
        PlannedPriors {
            priors: Arc::clone(priors),
            grid,
            most: priors
                .iter()
                .map(|(_, prior)| on_grid(prior.weight, grid))
                .sum(),
        }
    }

    /// Returns whether no field has a prior.
    pub(crate) fn is_empty(&self) -> bool {
        self.priors.is_empty()
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
        let mut fields = SmallVec::new();
        for (name, prior) in self.priors.iter() {
            if let Some(column) = segment.column(name)? {
                fields.push(FieldPrior::new(name, prior, column, self.grid));
            }
        }
        Ok(SegmentPriors(fields))
    }
}

impl<'a> SegmentPriors<'a> {
    /// Returns the addition of the priors to the score of a document.
    #[inline]
    pub(crate) fn of(&self, doc: DocId) -> f32 {
        self.0.iter().map(|field| field.of(doc)).sum()
    }

    /// Returns the priors by field, in the order of names.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &FieldPrior<'a>> {
        self.0.iter()
    }
}

impl<'a> FieldPrior<'a> {
    fn new(name: &'a str, prior: Prior, column: Column<'a>, grid: f32) -> FieldPrior<'a> {
        let mut field = FieldPrior {
            name,
            prior,
            column,
            grid,
            by_code: SmallVec::new(),
        };
        let codes_count = field.column.codes_count();
        if codes_count <= CODES_MAX {
            field.by_code = (0..=codes_count).map(|code| field.of_code(code)).collect();
        }
        field
    }

    /// Returns the addition of a document's value to its score.
    #[inline]
    pub(crate) fn of(&self, doc: DocId) -> f32 {
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
        let number = match self.column.value(code) {
            Some(Value::Integer(value)) => value as f64,
            Some(Value::Float(value)) => value,
            _ => 0.0,
        };
        on_grid(self.prior.of(number), self.grid)
    }
}
