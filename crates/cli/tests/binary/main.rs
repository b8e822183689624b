//! Contract of the program, run as a process.

mod bench;
mod changing;
mod clusters;
mod containers;
mod crawling;
mod damage;
mod fields;
mod generated;
mod handlers;
mod help;
mod hostile;
mod hurry;
mod indexing;
mod lab;
mod load;
mod model;
mod optimizing;
mod passed_over;
mod planning;
mod processes;
mod searching;
mod serving;
mod support;
mod topics;
mod watching;
mod writing;
