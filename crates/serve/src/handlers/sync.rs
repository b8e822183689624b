//! Locks, atomics and threads that handlers meet at. The model test of the board compiles the same files with those of a
//! checker in their place (`tests/shuttle`).

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64};
pub(crate) use std::sync::{Mutex, MutexGuard};
pub(crate) use std::thread::{Thread, current, park, park_timeout};
