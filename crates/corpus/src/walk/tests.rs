//! Tests of the precedence between two paths to a file, and of links that leave the folder.

use super::*;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

/// A folder `in` beside a folder `out`, which no walk of the first should reach.
struct Made {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Made {
    fn new(files: &[&str]) -> Made {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "words").unwrap();
        }
        Made {
            _folder: folder,
            root,
        }
    }

    fn link(&self, target: &str, path: &str) {
        symlink(target, self.root.join(path)).unwrap();
    }

    /// Walks `in` and returns the files found and the paths passed over with their reasons.
    fn walked(&self, follow: bool) -> (Vec<String>, Vec<(String, Reason)>) {
        let root = self.root.join("in");
        let held = if follow { Path::new("/") } else { &root };
        let walk = walk(&Beneath::new(held).unwrap(), &root, |name| {
            name.ends_with(".txt")
        });
        let inside = |path: &Path| path.strip_prefix(&root).unwrap().display().to_string();
        let files = walk.files.iter().map(|file| inside(&file.path));
        let passed_over = walk.passed_over.into_iter();
        (
            files.collect(),
            passed_over
                .map(|passed| (inside(&passed.path), passed.reason))
                .collect(),
        )
    }
}

#[test]
fn links_that_leave_the_folder_are_named_unless_they_are_followed() {
    let made = Made::new(&["in/a.txt", "out/b.txt", "out/c/d.txt", "out/picture.png"]);
    made.link("../out/b.txt", "in/file.txt");
    made.link("../out", "in/folder");
    made.link("folder/c/d.txt", "in/over_a_link.txt");
    made.link("../out/picture.png", "in/picture.png");
    made.link("nowhere", "in/nowhere.txt");
    made.link("myself.txt", "in/myself.txt");
    let out = |target: &str| Reason::LinkOut {
        target: made.root.join(target),
    };
    let (files, passed_over) = made.walked(false);
    assert_eq!(files, ["a.txt"]);
    let named = |pairs: &[(&str, Reason)]| -> Vec<(String, Reason)> {
        let owned = pairs
            .iter()
            .map(|(path, reason)| ((*path).to_owned(), reason.clone()));
        owned.collect()
    };
    assert_eq!(
        passed_over,
        named(&[
            ("file.txt", out("out/b.txt")),
            ("folder", out("out")),
            ("myself.txt", Reason::LinkNowhere),
            ("nowhere.txt", Reason::LinkNowhere),
            ("over_a_link.txt", out("out/c/d.txt")),
        ])
    );
    let (files, passed_over) = made.walked(true);
    assert_eq!(files, ["a.txt", "file.txt", "folder/c/d.txt"]);
    assert_eq!(passed_over.len(), 2, "{passed_over:?}");
}

#[test]
fn a_file_is_found_once_and_by_its_own_path_where_it_has_one() {
    let made = Made::new(&["in/z/a.txt", "in/.kept/b.dat", "in/c.dat", "out/d.txt"]);
    made.link("z/a.txt", "in/a_again.txt");
    made.link("z", "in/again");
    made.link(".", "in/here");
    made.link("..", "in/z/up");
    made.link("../..", "in/z/above");
    // Only the name of a link marks these files as text.
    made.link(".kept/b.dat", "in/b.txt");
    made.link("c.dat", "in/c.txt");
    made.link("c.dat", "in/c_too.txt");
    let (files, passed_over) = made.walked(false);
    assert_eq!(files, ["b.txt", "c.txt", "z/a.txt"]);
    let names: Vec<_> = passed_over.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(names, ["z/above"], "a folder above is not inside");
    // The parent contains the folder itself, which is not walked again.
    let (files, passed_over) = made.walked(true);
    assert_eq!(
        files,
        ["b.txt", "c.txt", "z/a.txt", "z/above/out/d.txt"],
        "{passed_over:?}"
    );
}

#[test]
fn what_is_no_file_is_named_and_not_opened() {
    let made = Made::new(&["in/a.txt"]);
    let fifo = made.root.join("in/pipe.txt");
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, fifo, FileType::Fifo, mode, 0).unwrap();
    let _listening = UnixListener::bind(made.root.join("in/socket")).unwrap();
    made.link("pipe.txt", "in/to_pipe.txt");
    made.link("/dev/zero", "in/zero.txt");
    let (files, passed_over) = made.walked(false);
    assert_eq!(files, ["a.txt"]);
    let reasons: Vec<_> = passed_over.iter().map(|(_, reason)| reason).collect();
    let target = PathBuf::from("/dev/zero");
    assert_eq!(
        reasons,
        [
            &Reason::Fifo,
            &Reason::Socket,
            &Reason::Fifo,
            &Reason::LinkOut { target }
        ]
    );
    let (_, passed_over) = made.walked(true);
    assert_eq!(passed_over[3].1, Reason::CharacterDevice);
}

#[cfg(target_os = "linux")]
#[test]
fn folders_of_the_kernel_are_named_once() {
    let made = Made::new(&["in/a.txt"]);
    made.link("/proc/self", "in/proc");
    made.link("/proc", "in/proc_too");
    let (files, passed_over) = made.walked(true);
    assert_eq!(files, ["a.txt"]);
    let name = "proc";
    for (path, reason) in &passed_over {
        assert_eq!(reason, &Reason::KernelFileSystem { name }, "{path}");
    }
    assert_eq!(passed_over.len(), 2);
}
