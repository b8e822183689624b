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
//! The engine below has no sockets. The front-end knows its servers only through the
//! traits of [`api::backend`]: they may be in this process, or behind gRPC on other machines.

mod addresses;
pub mod admin;
pub mod api;
mod catalog;
pub mod cluster;
pub mod deploy;
mod document_server;
mod encoding;
pub mod front_end;
mod handlers;
mod http;
mod in_process;
mod index_server;
mod metrics;
mod named;
pub mod net;
mod rpc;
mod snapshot;
mod telemetry;
mod writes;

pub use self::metrics::process::ServerMetrics;
pub use addresses::{AddressMap, AddressOptions, parse_address_map, show_mapped};
pub use admin::{AdminAddress, AdminOptions, AdminToken};
pub use api::backend::{DocumentServer, IndexServer};
pub use api::draining::Draining;
pub use api::error::ServeError;
pub use api::messages::Query;
pub use api::observed_crawl::{CrawlFailure, ObservedCrawl};
pub use api::options::SearchOptions;
pub use api::reply::Reply;
pub use catalog::{CatalogOptions, FolderServers, ObserveCrawl, RemoteIndexes};
pub use cluster::{Cluster, Known};
pub use deploy::cluster_file::{ClusterFile, parse_chunks};
pub use deploy::connect::ConnectedServers;
pub use deploy::server::{ServeOptions, Server, termination};
pub use deploy::supervisor;
pub use document_server::InProcessDocumentServer;
pub use engine::calls::{Chunks, PartError};
pub use engine::{Generations, Preloading, SearchError};
pub use front_end::{FrontEnd, FrontEndOptions};
pub use handlers::figures::Figures;
pub use handlers::options::HandlerOptions;
pub use handlers::options::Place;
pub use http::host_names::parse_host_name;
pub use http::indexnow::{IndexNowServer, JudgeSubmission, SubmissionReply, Submitted};
pub use http::origins::{Origin, parse_origin};
pub use in_process::partitioning::Topology;
pub use index_server::InProcessIndexServer;
pub use index_server::synthetic::{SyntheticClock, SyntheticRequest, SyntheticTimes};
pub use net::listener::{ClientHeader, ConnectionLimits, Network, TrustedProxies, parse_network};
pub use net::socket::{io_runtime, io_runtime_on};
pub use rpc::{RpcServer, RpcServices};
