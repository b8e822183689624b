//! Shorttail behind the protocol of this comparison.

mod build;
mod engine;
#[path = "../../protocol.rs"]
mod protocol;
mod words;

use protocol::{Asked, Result};

fn main() -> Result<()> {
    match protocol::asked()? {
        Asked::Index(arguments) => build::index(&arguments)?.print(),
        Asked::Serve(serving) => {
            // As servers do at start.
            codec::calibrate();
            let mut engine = engine::Engine::open(&serving.directory, serving.threads)?;
            protocol::serve(&mut engine, &serving)?;
        }
    }
    Ok(())
}
