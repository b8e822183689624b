//! Faults inside and outside of registered mappings.

use super::*;
use memmap2::Mmap;
use std::fs::File;
use std::process::Command;

const CHILD: &str = "SHORTTAIL_TEST_BUS_ERROR";
const PAGE: usize = 4096;

fn mapped(file: &File) -> Mmap {
    survive_lost_pages();
    map(file)
}

fn map(file: &File) -> Mmap {
    // SAFETY: what this tests is exactly that the file changes. The bytes are looked at one at a time.
    unsafe { Mmap::map(file) }.unwrap()
}

fn at(mapping: &Mmap, at: usize) -> u8 {
    std::hint::black_box(mapping[at])
}

#[test]
fn what_is_cut_off_reads_as_zeros_and_is_marked() {
    let file = tempfile::tempfile().unwrap();
    let other = tempfile::tempfile().unwrap();
    for file in [&file, &other] {
        std::io::Write::write_all(&mut &*file, &[7; 8 * PAGE]).unwrap();
    }
    let (mapping, untouched) = (mapped(&file), mapped(&other));
    let registered = Registered::new(mapping.as_ptr(), mapping.len());
    let other = Registered::new(untouched.as_ptr(), untouched.len());
    assert_eq!(at(&mapping, 5 * PAGE), 7);
    file.set_len(2 * PAGE as u64).unwrap();
    assert!(!registered.has_faulted());
    let read: Vec<u8> = [0, 2 * PAGE - 1, 6 * PAGE, 2 * PAGE, 8 * PAGE - 1]
        .map(|place| at(&mapping, place))
        .to_vec();
    assert_eq!(read, [7, 7, 0, 0, 0]);
    assert!(registered.has_faulted());
    assert!(!other.has_faulted());
    drop((registered, mapping));
    // The slot is used again, unmarked.
    let registered = Registered::new(untouched.as_ptr(), untouched.len());
    assert!(!registered.has_faulted());
}

#[test]
fn many_threads_may_fault_at_once() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(256 * PAGE as u64).unwrap();
    let mapping = mapped(&file);
    let registered = Registered::new(mapping.as_ptr(), mapping.len());
    file.set_len(0).unwrap();
    std::thread::scope(|scope| {
        for from in 0..4 {
            let mapping = &mapping;
            scope.spawn(move || {
                (from..256)
                    .rev()
                    .step_by(3)
                    .map(|page| at(mapping, page * PAGE))
                    .max()
            });
        }
    });
    assert!(registered.has_faulted());
}

/// Returns the signal that ends a process which runs scenario `what` of the test below.
fn ends(what: &str) -> Option<i32> {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "fault::tests::faults_where_asked", "--quiet"])
        .env(CHILD, what)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[test]
fn other_faults_end_the_process_as_before() {
    assert_eq!(ends("unregistered"), Some(libc::SIGBUS));
    assert_eq!(ends("unmapped"), Some(libc::SIGBUS));
    assert_eq!(ends("sent"), Some(libc::SIGBUS));
    assert_eq!(ends("registered"), None);
    assert_eq!(ends("unasked"), Some(libc::SIGBUS));
}

/// The other process of the test above; does nothing in an ordinary run.
#[test]
fn faults_where_asked() {
    let Ok(what) = std::env::var(CHILD) else {
        return;
    };
    let file = tempfile::tempfile().unwrap();
    file.set_len(2 * PAGE as u64).unwrap();
    let mapping = match what.as_str() {
        "unasked" => map(&file),
        _ => mapped(&file),
    };
    let registered = Registered::new(mapping.as_ptr(), mapping.len());
    match what.as_str() {
        "unregistered" => {
            let other = mapped(&file);
            file.set_len(0).unwrap();
            at(&other, 0);
        }
        "unmapped" => {
            drop(registered);
            file.set_len(0).unwrap();
            at(&mapping, 0);
        }
        // The standard library's own handler takes one that is sent for nothing, and takes itself away.
        "sent" => (0..2).for_each(|_| {
            // SAFETY: sends a signal to this thread; nothing else.
            assert_eq!(unsafe { libc::raise(libc::SIGBUS) }, 0);
        }),
        _ => {
            file.set_len(0).unwrap();
            assert_eq!(at(&mapping, PAGE), 0);
            assert!(registered.has_faulted());
        }
    }
}
