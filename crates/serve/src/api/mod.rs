//! Interface between front-ends and servers: traits, messages, replies, errors.

pub mod backend;
pub mod chunks;
pub(crate) mod draining;
pub mod error;
pub mod messages;
pub mod observed_crawl;
pub mod options;
pub(crate) mod reply;
pub mod server_error;
