//! The command `hurry` with threads of this process as those of another program.

use crate::support::{command, shorttail};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Two request threads, which wait until this is dropped.
struct App {
    tids: [u32; 2],
    cpus: Vec<u32>,
    ends: Vec<Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl App {
    /// Returns `None` where there are not two CPUs to move threads between.
    fn start() -> Option<App> {
        let cpus = vfs::platform::affinity(0).unwrap();
        if cpus.len() < 2 {
            return None;
        }
        let (mut ends, mut threads) = (Vec::new(), Vec::new());
        let tids = [(); 2].map(|()| {
            let (say, heard) = channel();
            let (end, ended) = channel::<()>();
            ends.push(end);
            threads.push(std::thread::spawn(move || {
                say.send(vfs::platform::thread_id()).unwrap();
                let _ = ended.recv();
            }));
            heard.recv().unwrap()
        });
        Some(App {
            tids,
            cpus,
            ends,
            threads,
        })
    }

    /// Checks the CPUs of both threads.
    #[track_caller]
    fn is_on(&self, expected: [&[u32]; 2]) {
        let found = self.tids.map(|tid| vfs::platform::affinity(tid).unwrap());
        assert_eq!(found, expected);
    }

    #[track_caller]
    fn is_where_it_was(&self) {
        self.is_on([&self.cpus, &self.cpus]);
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.ends.clear();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// A mapper of the threads of this process, until this is dropped.
struct Mapper {
    child: Child,
    moves: BufReader<ChildStdout>,
    said: BufReader<ChildStderr>,
    pipe: File,
}

impl Mapper {
    /// Starts a mapper for the first two CPUs. Returns it and what it said before it was ready.
    fn start(folder: &Path, app: &App, options: &[&str]) -> (Mapper, String) {
        let path = folder.join("pipe");
        let pid = std::process::id().to_string();
        let [big, little] = [app.cpus[0], app.cpus[1]].map(|cpu| cpu.to_string());
        let fixed = ["hurry", "--pid", &pid, "--big", &big, "--little", &little];
        let mut child = command(fixed)
            .args(options)
            .arg("--pipe")
            .arg(&path)
            .spawn()
            .unwrap();
        let moves = BufReader::new(child.stdout.take().unwrap());
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut before = String::new();
        loop {
            let mut line = String::new();
            let read = said.read_line(&mut line).unwrap();
            assert!(read > 0, "it ended: {before}");
            if line.starts_with("reading ") {
                break;
            }
            before += &line;
        }
        let pipe = vfs::platform::open_fifo_for_writing(&path).unwrap();
        let mapper = Mapper {
            child,
            moves,
            said,
            pipe,
        };
        (mapper, before)
    }

    /// Both threads begin a request; that of the second is older, and on the little core.
    fn hurry_second(&mut self, app: &App) {
        let now = unix_ms();
        let [first, second] = app.tids;
        let lines = format!("{first};new;{now}\n{second};old;{}\n", now - 500);
        self.pipe.write_all(lines.as_bytes()).unwrap();
    }

    fn next_line(&mut self) -> String {
        let mut line = String::new();
        assert!(
            self.moves.read_line(&mut line).unwrap() > 0,
            "no more moves"
        );
        line.trim_end().to_owned()
    }

    /// The next moves as (thread, core, reason).
    fn next_moves<const N: usize>(&mut self) -> [(u32, u32, String); N] {
        [(); N].map(|()| {
            let moved: Value = serde_json::from_str(&self.next_line()).unwrap();
            let number = |name: &str| moved[name].as_u64().unwrap() as u32;
            let reason = moved["reason"].as_str().unwrap().to_owned();
            (number("tid"), number("to"), reason)
        })
    }

    /// Ends it by SIGTERM. Returns what it said at last.
    fn terminate(mut self) -> String {
        let pid = self.child.id().to_string();
        let sent = std::process::Command::new("kill").arg(&pid).status();
        assert!(sent.unwrap().success());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        let mut said = String::new();
        self.said.read_to_string(&mut said).unwrap();
        said
    }
}

impl Drop for Mapper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    since.as_millis() as u64
}

/// The moves of [`Mapper::hurry_second`].
fn expected_moves(app: &App) -> [(u32, u32, String); 4] {
    let ([first, second], [big, little]) = (app.tids, [app.cpus[0], app.cpus[1]]);
    [
        (first, big, "placed".into()),
        (second, little, "placed".into()),
        (first, little, "made-room".into()),
        (second, big, "long".into()),
    ]
}

#[test]
fn a_long_request_moves_and_sigterm_gives_the_cpus_back() {
    let Some(app) = App::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut mapper, _) = Mapper::start(folder.path(), &app, &["--json"]);
    mapper.hurry_second(&app);
    assert_eq!(mapper.next_moves::<4>(), expected_moves(&app));
    app.is_on([&app.cpus[1..2], &app.cpus[..1]]);
    let said = mapper.terminate();
    assert!(
        said.contains("requests moved: 1, moves failed: 0; 2 threads have"),
        "{said}"
    );
    app.is_where_it_was();
}

#[test]
fn as_published_a_decision_waits_for_a_line() {
    let Some(app) = App::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut mapper, _) = Mapper::start(folder.path(), &app, &["--json", "--as-published"]);
    // The first request ends, or the two would change places for ever.
    let end = format!("{};new;0\n", app.tids[0]);
    mapper.hurry_second(&app);
    mapper.pipe.write_all(end.as_bytes()).unwrap();
    let mut moved = mapper.next_moves::<2>().to_vec();
    let (stop, stopped) = channel::<()>();
    let mut pipe = mapper.pipe.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        let pause = Duration::from_millis(5);
        while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            let _ = pipe.write(b"1;another;0\n");
        }
    });
    moved.extend(mapper.next_moves::<2>());
    drop(stop);
    writer.join().unwrap();
    assert_eq!(moved, expected_moves(&app));
    app.is_on([&app.cpus[1..2], &app.cpus[..1]]);
    mapper.terminate();
    app.is_where_it_was();
}

#[test]
fn a_mapper_that_was_killed_is_made_good_by_the_next() {
    let Some(app) = App::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut mapper, said) = Mapper::start(folder.path(), &app, &["--json"]);
    assert_eq!(said, "");
    mapper.hurry_second(&app);
    mapper.next_moves::<4>();
    let pid = std::process::id().to_string();
    let pipe = folder.path().join("pipe");
    let cpu = app.cpus[0].to_string();
    let second = [
        "hurry",
        "--pid",
        &pid,
        "--big",
        &cpu,
        "--pipe",
        pipe.to_str().unwrap(),
    ];
    shorttail(second).fails_saying(&["pipe.journal", "another mapper"]);
    // SIGKILL: nothing is tidied up.
    drop(mapper);
    app.is_on([&app.cpus[1..2], &app.cpus[..1]]);
    let (mapper, said) = Mapper::start(folder.path(), &app, &["--json"]);
    assert!(said.contains("2 of its 2 threads"), "{said}");
    app.is_where_it_was();
    mapper.terminate();
    let (mapper, said) = Mapper::start(folder.path(), &app, &["--json"]);
    assert_eq!(said, "", "the journal is empty");
    mapper.terminate();
}

#[test]
fn damaged_lines_and_foreign_threads_are_counted_and_harmless() {
    let Some(app) = App::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut mapper, _) = Mapper::start(folder.path(), &app, &["--json"]);
    let own = mapper.child.id();
    let damaged = [&b"\xff\0;;\n0;a;1\n1;a\nx;y;z\n"[..], &[b'9'; 3000], b"\n"].concat();
    mapper.pipe.write_all(&damaged).unwrap();
    let foreign = format!("1;a;0\n{own};b;0\n4194304;c;0\n");
    mapper.pipe.write_all(foreign.as_bytes()).unwrap();
    let before = vfs::platform::affinity(own).unwrap();
    mapper.hurry_second(&app);
    assert_eq!(mapper.next_moves::<4>(), expected_moves(&app));
    assert_eq!(vfs::platform::affinity(own).unwrap(), before);
    let said = mapper.terminate();
    assert!(said.contains("5 lines, 5 damaged, 3 refused"), "{said}");
    app.is_where_it_was();
}

#[test]
fn a_dry_run_tells_and_moves_nothing() {
    let Some(app) = App::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut mapper, _) = Mapper::start(folder.path(), &app, &["--dry-run"]);
    mapper.hurry_second(&app);
    let moves = [(); 4].map(|()| mapper.next_line());
    assert!(
        moves[3].starts_with(&format!("thread {} ", app.tids[1])),
        "{moves:?}"
    );
    assert!(moves[3].contains(" long old "), "{moves:?}");
    app.is_where_it_was();
    assert!(!folder.path().join("pipe.journal").exists());
    mapper.terminate();
}

#[test]
fn paths_and_cores_that_cannot_be_used_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    fs::write(path("file"), "precious").unwrap();
    std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
    let check = |arguments: &[&str], parts: &[&str]| {
        let all = [&["hurry", "--big", "0", "--dry-run"], arguments].concat();
        shorttail(all).fails_saying(parts);
    };
    let [file, link, pipe] = ["file", "link", "pipe"].map(|name| path(name).display().to_string());
    let pair = ["--little", "0"];
    check(&["--pipe", &pipe, pair[0], pair[1]], &["big and as little"]);
    check(
        &["--pipe", &pipe, "--little", "8000"],
        &["8000 is not online"],
    );
    check(
        &["--pipe", &pipe, "--pid", "4194304"],
        &["no process 4194304"],
    );
    assert!(!path("pipe").exists());
    if vfs::platform::affinity(0).unwrap().len() > 1 {
        check(&["--pipe", &file], &["no FIFO"]);
        check(&["--pipe", &link], &["symbolic link"]);
        let journal = ["hurry", "--big", "0", "--pipe", &pipe, "--journal", &link];
        shorttail(journal).fails_saying(&["symbolic link"]);
    }
    assert_eq!(fs::read(path("file")).unwrap(), b"precious");
}
