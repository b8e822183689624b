//! Code generation for the messages between servers, from their schema and without `protoc`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    if std::env::var_os("CARGO_FEATURE_RPC").is_some() {
        let files = protox::compile(["proto/shorttail.proto"], ["proto"])?;
        tonic_prost_build::configure().compile_fds(files)?;
    }
    Ok(())
}
