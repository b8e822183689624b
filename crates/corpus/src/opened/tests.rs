//! Tests of opening paths whose type changes between listing and opening.

use super::*;
use std::os::unix::fs::symlink;
use std::time::Instant;

fn fifo(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

fn refused(opened: Result<File, OpenError>) -> Reason {
    match opened {
        Err(OpenError::PassedOver(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_that_became_a_link_or_a_fifo_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(folder.path()).unwrap();
    std::fs::create_dir_all(root.join("in/deep")).unwrap();
    std::fs::create_dir(root.join("out")).unwrap();
    std::fs::write(root.join("out/secret.txt"), "secret").unwrap();
    std::fs::write(root.join("in/deep/a.txt"), "a").unwrap();
    let beneath = Beneath::new(&root.join("in")).unwrap();
    let real = root.join("in/deep/a.txt");
    assert!(beneath.open(&real).is_ok());
    assert_eq!(
        beneath.list(&root.join("in/deep")).unwrap().entries.len(),
        1
    );

    std::fs::remove_file(&real).unwrap();
    symlink(root.join("out/secret.txt"), &real).unwrap();
    assert_eq!(refused(beneath.open(&real)), Reason::Changed);

    std::fs::remove_file(&real).unwrap();
    fifo(&real);
    let begun = Instant::now();
    assert_eq!(refused(beneath.open(&real)), Reason::Fifo);
    assert!(begun.elapsed().as_secs() < 5);

    // A folder on the way is replaced by a link.
    std::fs::rename(root.join("in/deep"), root.join("in/moved")).unwrap();
    symlink(root.join("out"), root.join("in/deep")).unwrap();
    let through = root.join("in/deep/secret.txt");
    assert_eq!(refused(beneath.open(&through)), Reason::Changed);
    assert!(matches!(
        beneath.list(&root.join("in/deep")),
        Err(OpenError::PassedOver(Reason::Changed))
    ));
    // A file outside the folder.
    assert!(matches!(
        refused(beneath.open(&root.join("out/secret.txt"))),
        Reason::LinkOut { .. }
    ));
}

#[test]
fn the_type_is_asked_of_what_was_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.txt");
    fifo(&path);
    // As if the path had been a file at the check: only the descriptor shows the type.
    let flags = READ | OFlags::RDWR;
    let opened = rustix::fs::openat(CWD, &path, flags, Mode::empty()).unwrap();
    let asked = refuse_opened(&File::from(opened));
    assert!(matches!(asked, Err(OpenError::PassedOver(Reason::Fifo))));
    let device = File::open("/dev/null").unwrap();
    assert!(matches!(
        refuse_opened(&device),
        Err(OpenError::PassedOver(Reason::CharacterDevice))
    ));
}

#[test]
fn a_named_path_may_be_a_link_and_not_a_device() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, "x").unwrap();
    let link = folder.path().join("link.jsonl");
    symlink(&path, &link).unwrap();
    assert!(open_named(&link).is_ok());
    for special in ["/dev/null", "/dev/zero"] {
        let reason = refused(open_named(Path::new(special)));
        assert_eq!(reason, Reason::CharacterDevice, "{special}");
    }
    let named = folder.path().join("pipe.jsonl");
    fifo(&named);
    assert_eq!(refused(open_named(&named)), Reason::Fifo);
    assert!(matches!(
        open_named(folder.path()),
        Err(OpenError::Io(error)) if error.kind() == io::ErrorKind::IsADirectory
    ));
}

#[cfg(target_os = "linux")]
#[test]
fn files_of_the_kernel_are_known_by_their_file_system() {
    let reason = refused(open_named(Path::new("/proc/self/status")));
    assert_eq!(reason, Reason::KernelFileSystem { name: "proc" });
    if Path::new("/sys/kernel").exists() {
        let beneath = Beneath::new(Path::new("/sys")).unwrap();
        let listed = beneath.list(Path::new("/sys/kernel")).map(|_| ());
        assert!(matches!(
            listed,
            Err(OpenError::PassedOver(Reason::KernelFileSystem {
                name: "sysfs"
            }))
        ));
    }
}
