//! Does the load generator tell the truth? Servers whose behaviour is known are measured with it.

mod endings;
mod queueing;
mod server;
mod truth;
