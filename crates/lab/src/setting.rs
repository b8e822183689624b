//! Reading and verified writing of machine settings.
//!
//! ```text
//! name                                             value             contents of the file
//! sys/devices/system/cpu/smt/control               on                on
//! sys/kernel/mm/transparent_hugepage/enabled       madvise           always [madvise] never
//! dev/cpu/0/msr@1a4                                0xf               eight bytes at that offset, low byte first
//! sys/fs/resctrl/schemata@L3                       0=fffff;1=fffff   a line `L3:0=fffff;1=fffff` among others
//! ```
//!
//! The kernel may accept one value and keep another, so each value is read back after the write.
use crate::LabError;
use crate::capability::State;
use crate::tree::Tree;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Location and form of a setting.
enum Place<'a> {
    File(&'a str),
    /// A model-specific register of a processor, by number.
    Register(&'a str, u64),
    /// The line of a resource in a file.
    Line(&'a str, &'a str),
}

impl Place<'_> {
    fn of(name: &str) -> Place<'_> {
        let Some((file, part)) = name.split_once('@') else {
            return Place::File(name);
        };
        match u64::from_str_radix(part, 16) {
            Ok(number) if file.ends_with("/msr") => Place::Register(file, number),
            _ => Place::Line(file, part),
        }
    }
}

/// Returns the value of a setting; otherwise the state that its absence implies, and the evidence.
pub(crate) fn read(tree: &Tree, name: &str) -> Result<String, (State, String)> {
    match Place::of(name) {
        Place::File(file) => Ok(chosen(&tree.read(file)?).to_owned()),
        Place::Register(file, number) => {
            let mut bytes = [0; 8];
            File::open(tree.path(file))
                .and_then(|register| register.read_exact_at(&mut bytes, number))
                .map_err(|error| (State::of_error(&error), format!("{name}: {error}")))?;
            Ok(format!("{:#x}", u64::from_le_bytes(bytes)))
        }
        Place::Line(file, resource) => {
            let text = tree.read(file)?;
            let value = text
                .lines()
                .find_map(|line| line.trim().strip_prefix(resource)?.strip_prefix(':'));
            let none = || (State::Unavailable, format!("{file}: no line `{resource}:`"));
            Ok(value.ok_or_else(none)?.trim().to_owned())
        }
    }
}

/// Returns the word in brackets, if the file lists all choices and marks the active one.
fn chosen(text: &str) -> &str {
    let marked = text
        .split_whitespace()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    marked.unwrap_or(text)
}

/// Writes a setting and reads it back.
///
/// # Errors
/// The setting does not exist, cannot be written, or keeps another value.
pub(crate) fn write(tree: &Tree, name: &str, value: &str) -> Result<(), LabError> {
    let path = PathBuf::from(format!("/{name}"));
    let failed = |error: String| LabError::file(&path, format!("cannot write `{value}`: {error}"));
    let written = match Place::of(name) {
        Place::File(file) => replace(tree, file, value),
        Place::Register(file, number) => {
            let bits = value.strip_prefix("0x").unwrap_or(value);
            let bits = u64::from_str_radix(bits, 16).map_err(|error| failed(error.to_string()))?;
            let file = OpenOptions::new().write(true).open(tree.path(file));
            file.and_then(|file| file.write_all_at(&bits.to_le_bytes(), number))
        }
        // The kernel requires a whole line, and leaves the others unchanged.
        Place::Line(file, resource) => replace(tree, file, &format!("{resource}:{value}\n")),
    };
    written.map_err(|error| failed(error.to_string()))?;
    let kept = read(tree, name).map_err(|(_, evidence)| failed(evidence))?;
    match kept == value {
        true => Ok(()),
        false => Err(LabError::file(
            &path,
            format!("took `{value}` and kept `{kept}`"),
        )),
    }
}

/// Writes to an existing file. It never creates one, which would set nothing.
fn replace(tree: &Tree, file: &str, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).truncate(true).open(tree.path(file))?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::recorded;

    fn check(files: &[(&str, &str)], name: &str, before: &str, after: &str) {
        let (_root, tree) = recorded(files);
        assert_eq!(read(&tree, name).unwrap(), before, "{name}");
        write(&tree, name, after).unwrap();
        assert_eq!(read(&tree, name).unwrap(), after, "{name}");
    }

    #[test]
    fn every_form_is_read_and_written() {
        check(&[("sys/smt", "on\n")], "sys/smt", "on", "off");
        let pages = "sys/pages";
        check(
            &[(pages, "always [madvise] never\n")],
            pages,
            "madvise",
            "never",
        );
        let schemata = "    MB:0=100;1=100\n    L3:0=fffff;1=fffff\n";
        let line = "sys/fs/resctrl/schemata@L3";
        let file = "sys/fs/resctrl/schemata";
        check(&[(file, schemata)], line, "0=fffff;1=fffff", "0=3ff;1=3ff");
        // A sparse region up to the register, followed by the register itself.
        let bytes = "\0".repeat(0x1a4) + "\x05\0\0\0\0\0\0\0";
        check(
            &[("dev/cpu/0/msr", &bytes)],
            "dev/cpu/0/msr@1a4",
            "0x5",
            "0xf",
        );
    }

    #[test]
    fn what_is_not_there_is_told() {
        let (_root, tree) = recorded(&[("dev/cpu/0/msr", ""), ("sys/schemata", "MB:0=100\n")]);
        let state = |name: &str| read(&tree, name).unwrap_err().0;
        assert_eq!(state("sys/absent"), State::Unavailable);
        assert_eq!(
            state("dev/cpu/0/msr@1a4"),
            State::Invalid,
            "no such register"
        );
        assert_eq!(state("sys/schemata@L3"), State::Unavailable);
        let error = write(&tree, "dev/cpu/0/msr@1a4", "many").unwrap_err();
        assert!(error.to_string().contains("/dev/cpu/0/msr@1a4"), "{error}");
        let error = write(&tree, "dev/absent", "1").unwrap_err().to_string();
        assert!(error.contains("cannot write `1`"), "{error}");
    }
}
