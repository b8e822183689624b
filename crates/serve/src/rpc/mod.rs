//! gRPC between front-ends, index servers and document servers: the messages of [`wire::rpc`].

mod clause;
mod client;
mod convert;
mod failure;
mod health;
mod schedule;
mod server;
mod services;
mod values;

pub(crate) use clause::query_bytes;
pub(crate) use client::{RemoteDocumentServer, RemoteIndexServer};
pub use server::RpcServer;
pub use services::RpcServices;
