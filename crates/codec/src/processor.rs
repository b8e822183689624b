//! Instruction sets that the processor supports.

/// A set of instructions that code may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Level {
    /// The baseline of the architecture.
    Any = 1,
    /// AVX2, BMI1, BMI2, LZCNT and POPCNT.
    Avx2 = 2,
    /// AVX-512 F, BW, DQ, VL, VPOPCNTDQ, VBMI and VBMI2, in addition to [`Level::Avx2`].
    Avx512 = 3,
    /// NEON, which every 64-bit ARM processor of the build target has: explicit vectors, where [`Level::Any`] leaves
    /// vectorisation to the compiler.
    Neon = 4,
}

impl Level {
    /// All levels, from the plainest to the newest.
    pub const ALL: [Level; 4] = [Level::Any, Level::Avx2, Level::Avx512, Level::Neon];

    /// Returns the name used in options and reports: `any`, `avx2`, `avx512`, `neon`.
    pub fn name(self) -> &'static str {
        match self {
            Level::Any => "any",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
            Level::Neon => "neon",
        }
    }

    /// Returns the level of that name.
    pub fn of_name(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }

    /// Returns whether this processor has all instructions of the level.
    pub fn is_there(self) -> bool {
        match self {
            Level::Any => true,
            Level::Avx2 => has_avx2(),
            Level::Avx512 => has_avx2() && has_avx512(),
            Level::Neon => cfg!(all(target_arch = "aarch64", target_feature = "neon")),
        }
    }
}

/// Returns the highest level that this processor supports.
pub fn level() -> Level {
    let mut newest_first = Level::ALL.into_iter().rev();
    newest_first
        .find(|level| level.is_there())
        .unwrap_or(Level::Any)
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vpopcntdq")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_the_highest_level_is_there() {
        for level in Level::ALL {
            assert_eq!(Level::of_name(level.name()), Some(level));
        }
        assert_eq!(Level::of_name("newest"), None);
        assert!(level().is_there());
        assert_eq!(cfg!(target_arch = "aarch64"), level() == Level::Neon);
    }
}
