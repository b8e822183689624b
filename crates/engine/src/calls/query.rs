//! A query as its calls share it, with the plan made last.

use index::{Index, IndexError, ReadStart};
use search::{Plan, Ranking};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use text::summary::SummaryTerm;

/// A query, shared by all requests that its answer needs.
#[derive(Debug)]
pub struct Query {
    /// Number of the query, unique within a front-end, for logs.
    pub id: u64,
    /// Text as typed.
    pub text: String,
    /// Clauses, as the text was parsed or a program made them.
    pub tree: search::Query,
    /// Ranking function.
    pub ranking: Ranking,
    /// Name of the index, where a server of many was asked; for logs.
    index: Option<Arc<str>>,
    /// Plan made last, shared by the servers of one process.
    planned: Mutex<Option<Arc<Planned>>>,
}

/// A query planned for one generation of an index.
#[derive(Debug)]
pub struct Planned {
    /// Generation whose statistics weigh the words.
    pub generation: u64,
    /// State of the files before planning began.
    pub since: ReadStart,
    /// Plan of the search.
    pub plan: Arc<Plan>,
    /// Terms that summaries show.
    pub summary_terms: Vec<SummaryTerm>,
    /// Time of planning, in microseconds.
    pub parse_us: u64,
}

impl Query {
    /// Returns a query without a plan.
    pub fn new(id: u64, text: String, tree: search::Query, ranking: Ranking) -> Query {
        Query {
            id,
            text,
            tree,
            ranking,
            index: None,
            planned: Mutex::new(None),
        }
    }

    /// Sets the name of the index; an empty one is none.
    pub fn of_index(self, name: &str) -> Query {
        Query {
            index: (!name.is_empty()).then(|| name.into()),
            ..self
        }
    }

    /// Returns the name of the index, where a server of many was asked.
    pub fn index(&self) -> Option<&str> {
        self.index.as_deref()
    }

    /// Returns the plan for an index, which all servers of this process share.
    pub fn planned(&self, index: &Index) -> Result<Arc<Planned>, IndexError> {
        let mut slot = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        // A plan made while a file was changing may be wrong.
        let since = index.read_start();
        if let Some(planned) = &*slot
            && (planned.generation, planned.since) == (index.generation(), since)
        {
            return Ok(Arc::clone(planned));
        }
        let started = Instant::now();
        let statistics = index.statistics();
        let plan = Plan::new(&self.tree, self.ranking, statistics)?;
        let plan = plan.pin(index.segments(..), statistics)?;
        let planned = Arc::new(Planned {
            generation: index.generation(),
            since,
            summary_terms: plan.summary_terms(),
            plan: Arc::new(plan),
            parse_us: started.elapsed().as_micros() as u64,
        });
        *slot = Some(Arc::clone(&planned));
        Ok(planned)
    }

    /// Returns the plan for an index where one was made in this process; it takes no planning.
    pub fn known_plan(&self, index: &Index) -> Option<Arc<Planned>> {
        let slot = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        let (generation, since) = (index.generation(), index.read_start());
        let known = slot.as_ref()?;
        ((known.generation, known.since) == (generation, since)).then(|| Arc::clone(known))
    }
}
