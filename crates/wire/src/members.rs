//! gRPC messages between the members of a crawl.
//!
//! The schema is `proto/crawl.proto`; the code is generated from it as that of [`crate::rpc`].

#[allow(missing_docs, unreachable_pub, clippy::all)]
mod generated {
    include!("../proto/shorttail.crawl.v1.rs");
}

pub use generated::*;
