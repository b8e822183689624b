//! Who runs where, and with how many handlers at once? Pure decisions: no clock, no threads, no I/O.

pub mod policy;
