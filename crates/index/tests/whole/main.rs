//! Tests of whole indexes: format, commits, layouts, damage.

mod backups;
mod built;
mod damage;
mod durability;
mod fixture;
mod following;
mod format;
mod format_written;
mod generations;
mod inverting;
mod layers;
mod layout;
mod logs;
mod merging;
mod optimize;
mod preload;
mod quotations;
mod rules;
mod runs;
mod texts;
mod touching;
mod versions;
mod writers;
mod written;
