//! Open generations of the index as servers serve them: reloads, status, partition maps of front-ends.

pub(crate) mod partition_maps;
pub(crate) mod reloads;
pub(crate) mod served;
pub(crate) mod writing;
