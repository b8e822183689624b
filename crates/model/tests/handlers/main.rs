//! Agreement of the simulator of handlers with published figures, with the simulator of machines, and with a board that
//! gets the same events.

mod hurry_up;
mod reference;
mod scripts;
mod sequential;
mod tails;
mod waits;
