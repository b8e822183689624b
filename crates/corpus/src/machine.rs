//! The documentation that is on this machine already: crates' sources, man pages, `/usr/share/doc`.
