//! Which instructions does the processor have? Asked once.

use std::sync::atomic::{AtomicU8, Ordering};

/// What code may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// What every processor of the architecture has.
    Any,
    /// AVX2, BMI1, BMI2, LZCNT and POPCNT.
    Avx2,
    /// Besides these AVX-512 F, BW, DQ, VL, VPOPCNTDQ, VBMI and VBMI2.
    Avx512,
}

const UNKNOWN: u8 = 0;
static KNOWN: AtomicU8 = AtomicU8::new(UNKNOWN);

/// The highest level whose instructions are all there.
#[inline]
pub fn level() -> Level {
    match KNOWN.load(Ordering::Relaxed) {
        UNKNOWN => find_out(),
        1 => Level::Any,
        2 => Level::Avx2,
        _ => Level::Avx512,
    }
}

#[cold]
fn find_out() -> Level {
    let level = detected();
    KNOWN.store(level as u8 + 1, Ordering::Relaxed);
    level
}

#[cfg(target_arch = "x86_64")]
fn detected() -> Level {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vpopcntdq")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2");
    match (avx2, avx512) {
        (false, _) => Level::Any,
        (true, false) => Level::Avx2,
        (true, true) => Level::Avx512,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detected() -> Level {
    Level::Any
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_out_is_remembered() {
        assert_eq!(level(), detected());
        assert_eq!(level(), detected());
    }
}
