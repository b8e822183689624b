//! HTTP: routes, search and documents, and errors as clients see them.
//!
//! ```text
//! routes ─► layers (host, body, headers) ─► search, document ─► app (turn, front-end) ─► page or JSON
//!                                                └─► failure: status code, remedy, Retry-After
//! ```
//!
//! A request is a task: while servers search, its thread reads other requests. If a client goes away,
//! its task is dropped, which cancels its calls to servers.

mod compression;
mod document;
pub(crate) mod host_names;
pub(crate) mod indexnow;
mod original;
pub(crate) mod origins;
pub(crate) mod page;
mod params;
mod posted;
mod search;
mod suggest;

pub(crate) mod app;
pub(crate) mod failure;
pub(crate) mod layers;
pub(crate) mod routes;
