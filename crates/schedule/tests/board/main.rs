//! Properties of the board on random scripts, and the decision of each policy on small boards.

mod decisions;
mod properties;
mod world;
