//! Open generations of the index: reloads, status, verification in the background.

pub mod generations;
pub(crate) mod partition_maps;
pub(crate) mod reloads;
pub(crate) mod status;
pub(crate) mod verifier;
