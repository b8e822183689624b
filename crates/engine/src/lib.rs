//! Embeddable document search engine.
//!
//! ```
//! use engine::{Engine, SearchOptions};
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path();
//! # let storage: vfs::SharedStorage = std::sync::Arc::new(vfs::RealStorage::create_directory(path)?);
//! # let mut writer = index::Writer::open(storage, index::BuildOptions::default())?;
//! # writer.add(document::Document {
//! #     url: "https://a.example/".into(),
//! #     title: "A short tail".into(),
//! #     body: "The tail is short, and so is the wait.".into(),
//! #     ..Default::default()
//! # })?;
//! # writer.commit()?;
//!
//! let engine = Engine::open(path)?;
//! let answer = engine.search("short tail", &SearchOptions::default())?;
//! for hit in &answer.hits {
//!     println!("{} {}\n{}", hit.title, hit.url, hit.summary);
//! }
//! # assert_eq!(answer.hits.len(), 1);
//! # assert!(answer.hits[0].summary.contains("<mark>tail</mark>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```text
//! text ─parse─► query ─plan─► Part::search ─► merge, per-site limit ─► details ─► summaries ─► answer
//!                                  ▲                  │
//!                                  └── k grows ◄──────┘ too few admitted, and more may match
//! ```
//!
//! [`Engine`] runs all of it on the calling thread. Servers run the same parts between queues and networks: [`Part`]
//! (a partition of a snapshot), [`site_limit`] (the merged ranking and its pages), [`details`]. Nothing here knows of a
//! network or of an asynchronous runtime.

mod aggregation;
mod collapse;
mod coordinator;
mod cursor;
mod engine;
mod error;
mod explained;
mod frequent_phrases;
mod generations;
mod group;
mod local;
mod matches;
mod missing_terms;
mod options;
mod part;
mod refinement;
mod retried;
mod returned;
mod search_error;
mod shown_text;
mod spelling;
mod verifier;

pub mod calls;
pub mod cut_values;
pub mod details;
pub mod site_limit;

pub use aggregation::{Aggregated, Aggregation};
pub use coordinator::{
    Call, Complete, Coordinator, Corrected, Correction, FIRST_SHARE, FacetCall, IndexFacts, Layout,
    Limits, NextProbe, Outcome, PreparedQuery, QuerySource, Replied, Reply, Sample, TITLES_K_MAX,
    Timeline, Titles, shown_instead,
};
pub use cursor::{CURSOR_FIRST, Cursors, Epoch, PageStart};
pub use details::{HitAddress, HitDetails, HitsRead};
pub use engine::Engine;
pub use error::{BadRequest, DetailsError, EngineError};
pub use frequent_phrases::frequent_phrases;
pub use generations::{Generations, OnReport, Preloading};
pub use matches::Matches;
pub use options::SearchOptions;
pub use part::Part;
pub use refinement::{FACETS_MAX, FILTERS_MAX, FacetGroup, Refinement};
pub use returned::{HitContents, Returned};
pub use search_error::SearchError;
pub use shown_text::summary_of;
pub use site_limit::SITE_LIMIT_WINDOW;

pub use index::{DocId, Index, IndexError, StoredDocument};
pub use search::{Operator, Query, QueryRules, Ranking};
pub use verifier::{BackgroundVerifier, OpenGenerations};
pub use wire::{Hit, HitNumbers, PhaseTimes, SearchAnswer, SuggestAnswer, SuggestedTitle, Total};
