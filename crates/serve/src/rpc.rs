//! gRPC between front-ends, index servers and document servers: the messages of [`wire::rpc`].

mod client;
mod convert;
mod server;

pub(crate) use client::{RemoteDocumentServer, RemoteIndexServer};
pub use server::{RpcServer, RpcServices};
