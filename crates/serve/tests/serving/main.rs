//! Serving a small index from end to end: in process, and over a real socket.
mod corpus;
mod failing;
mod http;
mod paging;
