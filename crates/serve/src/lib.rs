//! Serving: index servers, document server, front-end, and the page and API in front of them.
//!
//! ```text
//! HTTP ─► FrontEnd ── search ──► IndexServer of each partition ── queue ──► handlers
//!            │  ▲                                                              │
//!            │  └──────────── top k, exact count, queueing and search time ◄───┘
//!            ├── details, counts of sites ──► IndexServers
//!            └── summaries ──► DocumentServer
//! ```
//!
//! The one crate with threads and sockets. Everything the front-end knows of index servers is the
//! trait [`IndexServer`], so they can move to other machines without it noticing.

mod admission;
pub mod document_server;
pub mod error;
pub mod front_end;
mod http;
pub mod index_server;
mod link;
mod metrics;
pub mod options;
mod page;
mod parameters;
pub mod server;
pub mod transport;

pub use document_server::DocumentServer;
pub use error::{SearchError, ServeError};
pub use front_end::FrontEnd;
pub use index_server::InProcessIndexServer;
pub use options::{SearchOptions, Topology};
pub use server::{ServeOptions, Server, termination};
pub use transport::{IndexServer, Reply, ServerError};
