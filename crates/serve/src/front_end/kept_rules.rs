//! Rules of the index, read with its analyzer once for many queries.

use crate::cluster::Known;
use engine::QueryRules;
use fields::Rules;
use std::sync::{Arc, Mutex, PoisonError};
use text::Analyzer;

/// Rules as servers reported them, the analyzer, and what was read with it.
type Read = (Arc<Rules>, Analyzer, Option<Arc<QueryRules>>);

/// Rules of an index, read anew where they have changed.
#[derive(Debug, Default)]
pub(super) struct KeptRules(Mutex<Option<Read>>);

impl KeptRules {
    /// Returns the rules of an index; `None` for none.
    pub(super) fn of(&self, known: &Known) -> Option<Arc<QueryRules>> {
        let analyzer = known.analyzer.filter(|_| !known.rules.is_empty())?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((rules, of, read)) = &*kept
            && *of == analyzer
            && *rules == known.rules
        {
            return read.clone();
        }
        let read = QueryRules::new(&known.rules, analyzer).map(Arc::new);
        *kept = Some((Arc::clone(&known.rules), analyzer, read.clone()));
        read
    }
}
