//! Rules of the index, read with its analyzer and fields once for many queries.

use crate::cluster::Known;
use engine::QueryRules;
use fields::{Rules, Schema};
use std::sync::{Arc, Mutex, PoisonError};
use text::Analyzer;

/// Rules as servers reported them, what they are read with, and what was read.
type Read = (Arc<Rules>, (Analyzer, Arc<Schema>), Option<Arc<QueryRules>>);

/// Rules of an index, read anew where they have changed.
#[derive(Debug, Default)]
pub(super) struct KeptRules(Mutex<Option<Read>>);

impl KeptRules {
    /// Returns the rules of an index; `None` for none.
    pub(super) fn of(&self, known: &Known) -> Option<Arc<QueryRules>> {
        let analyzer = known.analyzer.filter(|_| !known.rules.is_empty())?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((rules, (of, fields), read)) = &*kept
            && *of == analyzer
            && *fields == known.fields
            && *rules == known.rules
        {
            return read.clone();
        }
        let read = QueryRules::new(&known.rules, analyzer, &known.fields).map(Arc::new);
        let with = (analyzer, Arc::clone(&known.fields));
        *kept = Some((Arc::clone(&known.rules), with, read.clone()));
        read
    }
}
