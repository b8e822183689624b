//! Does the program, run as a person runs it, keep its contract?

mod bench;
mod damage;
mod help;
mod hostile;
mod indexing;
mod optimizing;
mod processes;
mod searching;
mod serving;
mod support;
mod topics;
mod watching;
