//! gRPC between front-ends, index servers and document servers: the messages of [`wire::rpc`].

mod clause;
mod client;
mod convert;
mod failure;
mod server;
mod values;

pub(crate) use client::{RemoteDocumentServer, RemoteIndexServer};
pub use server::{RpcServer, RpcServices};
