//! Confinement: what a child cannot do, and what its death says.

use crate::made;
use crate::support::{bad, launch, pool, results};
use corpus::{Extract, Extracted};
use extract::{Launch, Limits, Pool};
use std::io::{self, Cursor, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn a_child_reaches_nothing() {
    let run = Command::new(launch().program)
        .arg("probe")
        .output()
        .unwrap();
    let said = String::from_utf8(run.stdout).unwrap();
    let denied = [
        "open", "list", "create", "connect", "listen", "fork", "thread", "memory",
    ];
    let expected: String = denied
        .iter()
        .map(|what| format!("{what} denied\n"))
        .collect();
    assert_eq!(said, expected);
    // The same attempts are allowed without confinement, so the probe tells something.
    assert!(std::fs::File::open("/etc/passwd").is_ok());
    assert!(std::net::TcpListener::bind("127.0.0.1:0").is_ok());
}

#[test]
fn a_child_of_root_has_no_capabilities() {
    let mut child = Command::new(launch().program)
        .arg("spin")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // It says that it is confined before it computes.
    let mut said = [0; 1];
    child.stdout.take().unwrap().read_exact(&mut said).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        let line = status.lines().find(|line| line.starts_with(set)).unwrap();
        assert!(line.ends_with(":\t0000000000000000"), "{line}");
    }
}

#[test]
fn a_child_that_cannot_start_is_told_of_every_document() {
    for program in ["/nowhere/shorttail", "/bin/true", "/bin/cat"] {
        let launch = Launch {
            program: program.into(),
            arguments: Vec::new(),
        };
        let pool = Pool::new(launch, Limits::default());
        for _ in 0..2 {
            let found = bad(&pool, "a.pdf", b"x");
            assert_eq!(found.len(), 1);
            assert!(
                found[0].1.contains("cannot start the process"),
                "{program}: {found:?}"
            );
        }
    }
}

#[test]
fn memory_is_limited_and_the_next_file_is_read() {
    let limits = Limits {
        memory_bytes: 96 << 20,
        document_s: 5,
    };
    let pool = Pool::new(launch(), limits);
    let found = bad(&pool, "large.docx", &vec![b'x'; 120 << 20]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.contains("more memory than it may"), "{found:?}");
    // Its text is decoded into a second buffer, and an allocation that fails ends the child.
    let blanks = vec![b' '; 40 << 20];
    let found = bad(
        &pool,
        "a.docx",
        &made::zip(&[("word/document.xml", &blanks)]),
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].1.contains("more than 96 MiB of memory"),
        "{found:?}"
    );
    let found = results(&pool, "a.docx", &made::docx("<w:p><w:t>fine</w:t></w:p>"));
    assert!(
        matches!(&found[..], [Extracted::Document { .. }]),
        "{found:?}"
    );
}

#[test]
fn processor_time_is_limited() {
    let spinning = || {
        let mut command = Command::new(launch().program);
        command.arg("spin");
        command
    };
    let run = spinning().output().unwrap();
    assert_eq!(run.status.signal(), Some(24), "SIGXCPU: {run:?}");
    let launch = Launch {
        arguments: vec!["spin".into()],
        ..launch()
    };
    let limits = Limits {
        document_s: 1,
        ..Limits::default()
    };
    let found = bad(&Pool::new(launch, limits), "a.pdf", b"x");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.contains("takes more than 1 s"), "{found:?}");
}

/// Returns a pool whose children are this script.
fn scripted(script: &str) -> Pool {
    let launch = Launch {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
    };
    let limits = Limits {
        document_s: 1,
        ..Limits::default()
    };
    Pool::new(launch, limits)
}

#[test]
fn what_no_child_says_is_not_believed() {
    for (said, part) in [
        ("sleep 100", "takes more than 1 s"),
        ("echo nonsense; sleep 100", "answered nonsense"),
        ("echo '\"ready\"'; sleep 100", "answered nonsense"),
        ("exit 7", "ended (status 7)"),
        ("kill -SEGV $$", "crashed (signal 11)"),
        ("cat >&2; exit 1", "takes more than 1 s"),
        (
            "yes '{\"left_out\":{\"name\":\"x\"}}'",
            "more than 200000 results",
        ),
        (
            "head -c 100000000 /dev/zero; sleep 100",
            "its text is too long",
        ),
    ] {
        let pool = scripted(&format!("echo '\"ready\"'; {said}"));
        let found = bad(&pool, "a.pdf", b"x");
        assert_eq!(found.len(), 1, "{said}: {found:?}");
        assert!(found[0].1.contains(part), "{said}: {found:?}");
    }
}

/// A source that never gives more.
struct Stalled;

impl Read for Stalled {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the disk is gone"))
    }
}

#[test]
fn an_error_of_the_source_is_the_reason() {
    let pool = pool();
    let source = Cursor::new(vec![b'x'; 100_000]).chain(Stalled);
    let found: Vec<Extracted> = pool.start("a.zip", Box::new(source)).collect();
    let [Extracted::Bad { reason, .. }] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(reason, "the disk is gone");
    assert_eq!(bad(&pool, "b.zip", b"x").len(), 1);
}

#[test]
fn a_child_that_says_nothing_is_stopped() {
    // `sleep` takes the limits as its arguments, and is never ready.
    let launch = Launch {
        program: "/bin/sleep".into(),
        arguments: vec!["100".into()],
    };
    let since = Instant::now();
    let found = bad(&Pool::new(launch, Limits::default()), "a.pdf", b"x");
    assert!(found[0].1.contains("cannot start the process"), "{found:?}");
    assert!(since.elapsed() < Duration::from_secs(20));
}

/// Returns the number of running children with this limit of memory.
fn children(memory_bytes: u64) -> usize {
    let argument = memory_bytes.to_string();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let commands = processes.filter_map(|one| std::fs::read(one.path().join("cmdline")).ok());
    let is_child = |command: &Vec<u8>| {
        command
            .split(|&byte| byte == 0)
            .any(|one| one == argument.as_bytes())
    };
    commands.filter(is_child).count()
}

#[test]
fn children_are_used_again_and_end_with_their_pool() {
    // A limit that no other test has tells these children from others.
    let limits = Limits {
        memory_bytes: (256 << 20) + 4096,
        document_s: 5,
    };
    let pool = Pool::new(launch(), limits);
    let archive = made::zip(&[("a.txt", b"one"), ("b.txt", b"two")]);
    for _ in 0..20 {
        assert_eq!(results(&pool, "a.zip", &archive).len(), 2);
    }
    assert!((1..=4).contains(&children(limits.memory_bytes)));
    for _ in 0..20 {
        let mut results = pool.start("a.zip", Box::new(Cursor::new(archive.clone())));
        assert!(results.next().is_some());
    }
    drop(pool);
    let since = Instant::now();
    while children(limits.memory_bytes) > 0 {
        assert!(
            since.elapsed() < Duration::from_secs(20),
            "children are left"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn many_files_are_started_at_once_and_keep_their_results() {
    let pool = pool();
    // More than there are children, and more text than may wait.
    let started: Vec<_> = (0..40)
        .map(|number| {
            let text = format!("words {number} ").repeat(if number % 3 == 0 { 100_000 } else { 1 });
            let archive = made::zip(&[("a.txt", text.as_bytes()), ("b.txt", text.as_bytes())]);
            (text, pool.start("a.zip", Box::new(Cursor::new(archive))))
        })
        .collect();
    for (number, (text, mut results)) in started.into_iter().enumerate() {
        let Some(Extracted::Document { body, .. }) = results.next() else {
            panic!()
        };
        assert!(body == text, "{number}");
        // Some are abandoned half-way, which stops no other.
        if number % 7 != 0 {
            assert_eq!(results.count(), 1);
        }
    }
}
