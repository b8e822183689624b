//! Extraction through child processes: formats, archives, damage, bombs and confinement.

mod archives;
mod confinement;
mod damage;
mod made;
mod mail;
mod office;
mod support;
