//! Agreement of the simulator with its twin query by query, and with exact results within its error.
//!
//! Every run here is also checked against Little's law and PASTA (arrivals see time averages).

mod exact;
mod hurry;
mod machine;
mod policies;
mod settings;
mod support;
mod twins;
