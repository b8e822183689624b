//! A disk that fails on demand.
use crate::*;

/// What fails, and when.
#[derive(Debug, Clone, Copy)]
pub struct Fault {}

/// Wraps a storage and fails chosen operations.
#[derive(Debug)]
pub struct FaultyStorage {}
