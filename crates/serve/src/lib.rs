//! Serving: index servers, document server, front-end, and the page and API in front of them.
//!
//! ```text
//! HTTP ─► FrontEnd ── search ──► IndexServer of each partition ── queue ──► handlers
//!            │  ▲                                                              │
//!            │  └──────────── top k, exact count, queueing and search time ◄───┘
//!            ├── details, counts of sites ──► IndexServers
//!            └── summaries ──► DocumentServer of each part of the texts
//! ```
//!
//! The one crate with threads and sockets. Everything the front-end knows of its servers is the traits of
//! [`transport`]: they may be in this process, or behind gRPC on other machines.

pub mod admin;
mod assemble;
mod blocking;
mod cache;
pub mod cluster;
pub mod cluster_file;
mod connect;
mod coverage;
mod document_server;
mod draining;
pub mod error;
mod fan_out;
pub mod front_end;
pub mod generations;
mod handlers;
mod hangup;
mod health;
mod http;
mod index_server;
mod job;
mod journal;
mod link;
pub mod listener;
mod metrics;
mod metrics_server;
pub mod options;
mod pace;
mod page;
mod parameters;
mod patience;
mod pinning;
mod proof;
mod reloads;
mod replicas;
mod reply;
mod rpc;
pub mod server;
pub mod server_error;
mod shown;
pub mod supervisor;
mod tables;
mod timeline;
mod told;
mod topology;
pub mod transport;
mod turns;
mod verifier;

pub use self::metrics::ServerMetrics;
pub use admin::{AdminAddress, AdminOptions, AdminToken};
pub use cluster::{Cluster, Known};
pub use cluster_file::{ClusterFile, parse_chunks};
pub use document_server::InProcessDocumentServer;
pub use draining::Draining;
pub use error::{SearchError, ServeError};
pub use front_end::{FrontEnd, FrontEndOptions};
pub use generations::{Generations, Preloading};
pub use handlers::Figures;
pub use index_server::{HandlerOptions, InProcessIndexServer};
pub use listener::{ClientHeader, ConnectionLimits, Network, TrustedProxies, parse_network};
pub use options::SearchOptions;
pub use pinning::Place;
pub use reply::Reply;
pub use rpc::{RpcServer, RpcServices};
pub use server::{ServeOptions, Server, io_runtime, termination};
pub use server_error::ServerError;
pub use topology::Topology;
pub use transport::{Chunks, DocumentServer, IndexServer, Query};
