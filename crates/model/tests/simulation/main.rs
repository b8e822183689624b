//! Does the simulator agree with its twin query by query, and with exact results within its own error?
//!
//! Every run here is held to Little's law and to PASTA (arrivals see time averages) as well.

mod exact;
mod machine;
mod policies;
mod settings;
mod support;
mod twins;
