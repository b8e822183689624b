//! gRPC between front-ends, index servers and document servers: the messages of [`wire::rpc`].

mod client;
mod convert;
mod failure;
mod health;
mod schedule;
mod server;
mod services;

pub(crate) use client::{RemoteDocumentServer, RemoteIndexServer};
pub use server::RpcServer;
pub use services::RpcServices;
