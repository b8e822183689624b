//! Refusal of every damaged file, with its name and offset, by all commands that read an index.

use crate::serving::Serving;
use crate::support::{Bench, document, json_lines, small_corpus};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of an index that hold anything.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap());
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| entry.metadata().unwrap().len() > 0)
        .map(|entry| entry.path())
        // The operating system holds the lock; its file has no contents that matter.
        .filter(|path| !path.to_string_lossy().to_lowercase().ends_with("lock"))
        .collect();
    files.sort();
    files
}

/// Overwrites a file of an index, which is read-only.
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
        // A directory without a manifest has no index; no other file may be missing.
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

/// An index of two generations.
fn two_generations() -> Bench {
    let bench = Bench::indexed(&small_corpus());
    let more = document("http://d.example/", "Last", "the last of the ice");
    let more = bench.file("more.jsonl", json_lines(&[more]));
    bench.index(&more, &[]).ends(0);
    bench
}

#[test]
fn a_flipped_byte_of_the_older_manifest_is_found() {
    let bench = two_generations();
    let run = bench.run::<&str>("check", &[]).ends(0);
    assert!(run.stdout.contains("2, and checksums of 1\n"), "{run:#?}");
    assert!(run.stdout.ends_with("no damage found\n"), "{run:#?}");
    let file = bench.directory().join("MANIFEST-1");
    let good = std::fs::read(&file).unwrap();
    for offset in [0, 40, good.len() / 2, good.len() - 1] {
        let mut bad = good.clone();
        bad[offset] ^= 1;
        overwrite(&file, &bad);
        let run = bench.run::<&str>("check", &[]).ends(1);
        assert!(run.stdout.contains("MANIFEST-1: byte "), "{run:#?}");
        bench.run("search", &["ice"]).ends(0);
    }
}

#[test]
fn a_lost_newest_manifest_is_said() {
    let bench = two_generations();
    let newest = bench.directory().join("MANIFEST-2");
    let good = std::fs::read(&newest).unwrap();
    std::fs::remove_file(&newest).unwrap();
    let run = bench.run("search", &["last"]).ends(0);
    assert!(run.stdout.starts_with("0 documents match"), "{run:#?}");
    for part in ["warning: ", "generation 1 is open", "MANIFEST-2"] {
        assert!(run.stderr.contains(part), "{part:?} is missing: {run:#?}");
    }
    let run = bench.run::<&str>("check", &[]).ends(0);
    for part in [
        "warning: ",
        "MANIFEST-2",
        "statistics-2: belongs to no generation",
    ] {
        assert!(run.stdout.contains(part), "{part:?} is missing: {run:#?}");
    }
    // A server says it in its log, from which all is read once it has ended.
    let mut serving = Serving::start(&bench);
    let id = serving.id().to_string();
    assert!(Command::new("kill").arg(id).status().unwrap().success());
    let told = serving.told(1);
    assert!(
        told.iter()
            .any(|line| line.contains("generation 1 is open")),
        "{told:?}"
    );
    overwrite(&newest, &good);
    let run = bench.run("search", &["last"]).ends(0);
    assert_eq!(run.stderr, "");
    // A writer warns before it removes the files.
    std::fs::remove_file(&newest).unwrap();
    let run = bench.run::<&str>("optimize", &[]).ends(0);
    assert!(run.stderr.contains("generation 1 is open"), "{run:#?}");
    let run = bench.run::<&str>("check", &[]).ends(0);
    assert!(!run.stdout.contains("belongs to no"), "{run:#?}");
}

#[test]
fn what_is_in_the_place_of_the_newest_manifest_is_refused() {
    let bench = two_generations();
    let newest = bench.directory().join("MANIFEST-2");
    std::fs::remove_file(&newest).unwrap();
    let pipe = Command::new("mkfifo").arg(&newest).status();
    assert!(pipe.unwrap().success());
    refused(&bench, &newest, "a FIFO");
    std::fs::remove_file(&newest).unwrap();
    std::os::unix::fs::symlink("MANIFEST-1", &newest).unwrap();
    refused(&bench, &newest, "a link");
    std::fs::remove_file(&newest).unwrap();
    std::fs::create_dir(&newest).unwrap();
    refused(&bench, &newest, "a folder");
}
