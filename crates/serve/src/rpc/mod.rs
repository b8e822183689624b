//! gRPC between front-ends, index servers and document servers: the messages of [`wire::rpc`].

mod client;
mod convert;
mod counts;
mod failure;
mod health;
mod near_words;
mod offered;
mod schedule;
mod schemas;
mod server;
mod services;

pub(crate) use client::{Connection, Indexes};
pub use offered::RpcServices;
pub(crate) use offered::{NamedOffer, Offered, OfferedIndexes};
pub use server::RpcServer;
