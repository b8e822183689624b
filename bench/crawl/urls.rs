//! Made-up URLs for the frontier and its rival, 50 a host, and the memory of the process that holds them.

/// Returns the next number of SplitMix64.
pub(crate) fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Returns the number of the host of a URL, and its path. With the host it has about 60 bytes, the mean of real documentation.
pub(crate) fn host_and_path(number: u64) -> (u64, String) {
    let (host, page) = (number / 50, number % 50);
    let (section, name) = (page / 10, mix(&mut number.clone()) >> 40);
    let path = format!("/docs/section-{section}/page-{name:06x}-{page}.html");
    (host, path)
}

/// Returns the memory of this process that is no file's, in MB.
pub(crate) fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let kb = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kb.unwrap_or(0) / 1_024
}
