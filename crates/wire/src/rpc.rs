//! gRPC messages between front-ends, index servers and document servers, generated from `proto/shorttail.proto`.

/// Protocol version: the semantics of the schema. Servers of another version are refused.
pub const PROTOCOL: u32 = 1;

/// The messages and services of version 1.
#[allow(missing_docs, unreachable_pub, clippy::all)]
mod generated {
    tonic::include_proto!("shorttail.v1");
}

pub use generated::*;
