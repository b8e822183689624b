//! Signals that would end a process where an error says more.

/// Makes a write beyond the limit on the length of files (`ulimit -f`, `RLIMIT_FSIZE`) fail as on a
/// full disk. By default the kernel sends SIGXFSZ, which ends the process without a word.
pub fn fail_writes_beyond_the_file_limit() {
    // SAFETY: the handler is `SIG_IGN`, so no code of this program runs on the signal; the call
    // changes nothing but how the kernel treats this one signal. SIGXFSZ may be ignored (POSIX), and
    // the call is safe from any thread.
    let before = unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    // It fails only for numbers that are no signal's; then all is as it was.
    debug_assert_ne!(before, libc::SIG_ERR);
}
