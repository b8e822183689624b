//! Sizes of tests: small in ordinary runs, full where the environment asks for it.

/// Returns `full` where `SHORTTAIL_FULL` is set, for the sizes that docs/reliability.md reports, and else `small`, which
/// takes seconds.
pub fn size<T>(small: T, full: T) -> T {
    match std::env::var_os("SHORTTAIL_FULL") {
        Some(_) => full,
        None => small,
    }
}
