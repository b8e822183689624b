//! Tests that all ways to search give the answers of their slow twins.

mod aggregates;
mod agreement;
mod best_of;
mod collectors;
mod columns;
mod compounds;
mod cursors;
mod deletions;
mod models;
mod modifiers;
mod orders;
mod pairs;
mod priors;
mod rare_values;
mod rules;
mod serialized;
mod splits;
mod stopping;
mod tasks;
mod typed;
mod ways;
mod written;
