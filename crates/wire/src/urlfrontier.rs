//! The gRPC messages of URLFrontier 2.6, the frontier that StormCrawler and others use.
//!
//! The schema is `proto/urlfrontier.proto`; the code is generated from it as that of [`crate::rpc`].

#[allow(missing_docs, unreachable_pub, clippy::all)]
mod generated {
    include!("../proto/urlfrontier.rs");
}

pub use generated::*;
