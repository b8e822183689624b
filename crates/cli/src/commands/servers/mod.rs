//! Commands that serve an index, and one that watches servers.

mod addresses;
mod admin;
mod connections;
pub(crate) mod document_server;
pub(crate) mod front_end;
pub(crate) mod index_server;
pub(crate) mod serve;
mod serve_folder;
mod serving;
#[cfg(feature = "lab")]
pub(crate) mod spin;
pub(crate) mod top;
