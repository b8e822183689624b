//! Child process for the tests of this crate. The program `shorttail` has its own.
//!
//! `probe` instead of limits tells what a confined process can still do; `spin` before them computes for ever.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    match arguments.peek().map(String::as_str) {
        Some("probe") => probe(),
        Some("spin") => spin(),
        _ => extract::child::run(arguments),
    }
}

/// Confines this process and tries the denied operations.
fn probe() -> ExitCode {
    if let Err(reason) = extract::confine(extract::Limits::default()) {
        println!("not confined: {reason}");
        return ExitCode::FAILURE;
    }
    let attempts = [
        ("open", std::fs::File::open("/etc/passwd").is_ok()),
        ("list", std::fs::read_dir("/").is_ok()),
        (
            "create",
            std::fs::write("/tmp/shorttail-probe", "x").is_ok(),
        ),
        (
            "connect",
            std::net::TcpStream::connect("127.0.0.1:9").is_ok(),
        ),
        ("listen", std::net::TcpListener::bind("127.0.0.1:0").is_ok()),
        ("fork", Command::new("/bin/true").spawn().is_ok()),
        ("thread", std::thread::Builder::new().spawn(|| {}).is_ok()),
        (
            "memory",
            Vec::<u8>::new().try_reserve_exact(600 << 20).is_ok(),
        ),
    ];
    for (what, done) in attempts {
        println!("{what} {}", if done { "done" } else { "denied" });
    }
    ExitCode::SUCCESS
}

/// Confines this process to a second and computes for ever.
fn spin() -> ExitCode {
    let limits = extract::Limits {
        document_s: 1,
        ..extract::Limits::default()
    };
    if extract::confine(limits).is_err() {
        return ExitCode::FAILURE;
    }
    println!("\"ready\"");
    loop {
        std::hint::spin_loop();
    }
}
