//! Serving a small index from end to end: in process, over gRPC, and over a real socket.
// First, for its macros.
#[macro_use]
mod delegating;

mod addresses;
mod administration;
mod bodies;
mod bounds;
mod catalog;
mod clients;
mod conformance;
mod connections;
mod corpus;
mod corrections;
mod cursors;
#[cfg(unix)]
mod damaged;
mod deadlines;
mod embedded;
mod failing;
mod fairness;
mod from_pages;
mod groups;
mod hosts;
mod http;
mod hurrying;
mod indexnow;
mod mounted;
mod named;
mod oracle;
mod originals;
mod paging;
mod parallel;
mod poisoned;
mod processes;
mod reloading;
mod replicas;
mod rules;
mod seats;
mod storms;
mod suggestions;
mod summaries;
#[cfg(unix)]
mod trusted;
mod writing;
