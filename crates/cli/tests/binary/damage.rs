//! Is every damaged file refused, with its name and the offset, by whatever reads the index?

use crate::support::{Bench, small_corpus};
use std::path::{Path, PathBuf};

/// The files of an index that hold anything.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap());
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| entry.metadata().unwrap().len() > 0)
        .map(|entry| entry.path())
        // Whether somebody holds the lock is the system's knowledge; its file says nothing.
        .filter(|path| !path.to_string_lossy().to_lowercase().ends_with("lock"))
        .collect();
    files.sort();
    files
}

/// Files of an index are read-only; what damages them does not ask.
fn overwrite(file: &Path, content: &[u8]) {
    let _ = std::fs::remove_file(file);
    std::fs::write(file, content).unwrap();
}

#[track_caller]
fn refused(bench: &Bench, file: &Path, what: &str) {
    let name = file.file_name().unwrap().to_str().unwrap();
    let check = bench.run::<&str>("check", &[]).ends(1);
    let said = check.stdout.clone() + &check.stderr;
    let line = said
        .lines()
        .find(|line| line.contains(name) && line.contains("byte "));
    assert!(line.is_some(), "{what}: {check:#?}");
    bench.run("search", &["ice"]).fails_saying(&[name, "byte "]);
    bench
        .run("serve", &["--listen", "127.0.0.1:0"])
        .fails_saying(&[name, "byte "]);
}

#[test]
fn a_good_index_passes() {
    let bench = Bench::indexed(&small_corpus());
    let run = bench.run::<&str>("check", &[]).ends(0);
    assert!(run.stdout.contains("documents  6\n"), "{run:#?}");
    assert!(run.stdout.ends_with("no damage found\n"), "{run:#?}");
    assert!(files(&bench.directory()).len() >= 3);
}

#[test]
fn a_flipped_byte_is_found() {
    let bench = Bench::indexed(&small_corpus());
    for file in files(&bench.directory()) {
        let good = std::fs::read(&file).unwrap();
        for place in 0..6 {
            let offset = place * (good.len() - 1) / 5;
            let mut bad = good.clone();
            bad[offset] ^= 1 << (place % 8);
            overwrite(&file, &bad);
            refused(
                &bench,
                &file,
                &format!("{}: byte {offset} flipped", file.display()),
            );
        }
        overwrite(&file, &good);
    }
    bench.run::<&str>("check", &[]).ends(0);
}

#[test]
fn a_shortened_or_grown_file_is_found() {
    let bench = Bench::indexed(&small_corpus());
    for file in files(&bench.directory()) {
        let good = std::fs::read(&file).unwrap();
        for length in [0, 1, good.len() / 2, good.len() - 1] {
            overwrite(&file, &good[..length]);
            refused(
                &bench,
                &file,
                &format!("{}: cut to {length}", file.display()),
            );
        }
        overwrite(&file, &[&good[..], b"x"].concat());
        refused(&bench, &file, &format!("{}: grown", file.display()));
        overwrite(&file, &good);
    }
}

#[test]
fn a_missing_file_is_named() {
    let bench = Bench::indexed(&small_corpus());
    for file in files(&bench.directory()) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let good = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        // Without its manifest a directory holds no index; nothing else can be left out.
        let said = if name.starts_with("MANIFEST") {
            "no index here"
        } else {
            name
        };
        bench.run("search", &["ice"]).fails_saying(&[said]);
        let check = bench.run::<&str>("check", &[]).ends(1);
        assert!(
            (check.stdout.clone() + &check.stderr).contains(said),
            "{name}: {check:#?}"
        );
        overwrite(&file, &good);
    }
}
