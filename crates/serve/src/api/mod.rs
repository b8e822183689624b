//! Interface between front-ends and servers: traits, messages, replies, errors.

pub mod backend;
pub(crate) mod draining;
pub mod error;
pub mod messages;
pub mod observed_crawl;
pub mod options;
pub(crate) mod reply;
