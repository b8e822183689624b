//! gRPC messages between front-ends, index servers and document servers.
//!
//! The schema is `proto/shorttail.proto`; `proto/shorttail.v1.rs` is generated from it
//! (`cargo run --manifest-path crates/wire/generate/Cargo.toml`) and committed, so that no build needs a compiler of
//! schemas.

/// Protocol version: the semantics of the schema. Servers of another version are refused.
pub const PROTOCOL: u32 = 1;

/// The messages and services of version 1.
#[allow(missing_docs, unreachable_pub, clippy::all)]
mod generated {
    include!("../proto/shorttail.v1.rs");
}

pub use generated::*;
pub use prost::Message;
