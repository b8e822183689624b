//! Length, times and links of a file: what tells, without reading it, that it was changed.
//!
//! Linux sets the times of a file before a write(2), a truncation or the first store through a shared mapping changes
//! its bytes. The time of the last change (ctime) is the kernel's own and cannot be set. So bytes that were read before
//! a stamp was taken, and verified after an equal one, are the verified ones. Two limits:
//!
//! - Times come from a clock that ticks, before Linux 6.13 every 1 to 10 ms: a stamp proves something only once the last
//!   change is older than that ([`FileStamp::unsettled_for`]).
//! - Stores through a mapping that was writable before the stamp was taken, and what is written to the device below the
//!   file system, leave no trace here. Nor do other machines that write through a network file system, until its
//!   caches notice.

use std::time::{Duration, SystemTime};

/// Changes that are nearer to each other than this may leave equal times: more than a tick of any kernel.
const TICK_MAX: Duration = Duration::from_millis(20);

/// State of a file at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    device: u64,
    inode: u64,
    links: u64,
    bytes: u64,
    /// Seconds and nanoseconds since 1970.
    modified: (i64, i64),
    /// Likewise, of the last change of content, length, links or rights.
    changed: (i64, i64),
}

/// Change of a file between two stamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// No change.
    None,
    /// Names were added or taken away, as by a backup with hard links, and its bytes have kept their time.
    Links,
    /// The name by which it is asked for is gone or belongs to another file. What was opened may have changed before.
    Replaced,
    /// Bytes, length, rights or owner may have changed.
    Content,
}

impl FileStamp {
    #[cfg(unix)]
    #[allow(clippy::unnecessary_cast)] // The types differ from system to system.
    pub(crate) fn of(stat: &rustix::fs::Stat) -> FileStamp {
        FileStamp {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            links: stat.st_nlink as u64,
            bytes: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// Returns the change of the file from this stamp to `now`, taken at the same name; `None` where no file has it.
    pub fn change(&self, now: Option<&FileStamp>) -> Change {
        match now {
            None => Change::Replaced,
            Some(now) if now == self => Change::None,
            Some(now) if (now.device, now.inode) != (self.device, self.inode) => Change::Replaced,
            Some(now) if now.links != self.links => {
                let but_links = FileStamp {
                    links: self.links,
                    changed: self.changed,
                    ..*now
                };
                match but_links == *self {
                    true => Change::Links,
                    false => Change::Content,
                }
            }
            Some(_) => Change::Content,
        }
    }

    /// Returns the wait after which a new stamp of this file shows every change that follows; zero where this one does.
    /// A time of change in the future, from before a clock was set back, will not come again by chance.
    pub fn unsettled_for(&self) -> Duration {
        let (seconds, nanoseconds) = self.changed;
        let since_1970 = Duration::new(
            u64::try_from(seconds).unwrap_or(0),
            u32::try_from(nanoseconds).unwrap_or(0),
        );
        let changed = SystemTime::UNIX_EPOCH + since_1970;
        match changed.elapsed() {
            Ok(age) => TICK_MAX.saturating_sub(age),
            Err(ahead) if ahead.duration() < TICK_MAX => TICK_MAX + ahead.duration(),
            Err(_) => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_apart() {
        let stamp = FileStamp {
            device: 1,
            inode: 2,
            links: 1,
            bytes: 3,
            modified: (5, 6),
            changed: (7, 8),
        };
        let check = |now: FileStamp, expected: Change| {
            assert_eq!(stamp.change(Some(&now)), expected, "{now:?}");
        };
        let changed = (9, 0);
        check(stamp, Change::None);
        check(FileStamp { inode: 3, ..stamp }, Change::Replaced);
        check(FileStamp { device: 3, ..stamp }, Change::Replaced);
        check(
            FileStamp {
                links: 2,
                changed,
                ..stamp
            },
            Change::Links,
        );
        check(
            FileStamp {
                links: 0,
                changed,
                ..stamp
            },
            Change::Links,
        );
        check(FileStamp { changed, ..stamp }, Change::Content);
        check(FileStamp { bytes: 4, ..stamp }, Change::Content);
        let modified = changed;
        check(FileStamp { modified, ..stamp }, Change::Content);
        check(
            FileStamp {
                links: 2,
                modified,
                changed,
                ..stamp
            },
            Change::Content,
        );
        check(
            FileStamp {
                links: 2,
                bytes: 2,
                changed,
                ..stamp
            },
            Change::Content,
        );
        assert_eq!(stamp.change(None), Change::Replaced);
    }

    #[test]
    fn young_changes_are_waited_for() {
        let at = |time: SystemTime| {
            let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap();
            FileStamp {
                device: 1,
                inode: 2,
                links: 1,
                bytes: 3,
                modified: (0, 0),
                changed: (since.as_secs() as i64, since.subsec_nanos().into()),
            }
        };
        let now = SystemTime::now();
        assert!(at(now).unsettled_for() > Duration::ZERO);
        assert!(at(now + Duration::from_millis(5)).unsettled_for() > Duration::ZERO);
        assert_eq!(at(now - TICK_MAX).unsettled_for(), Duration::ZERO);
        assert_eq!(
            at(now + Duration::from_secs(60)).unsettled_for(),
            Duration::ZERO
        );
    }
}
