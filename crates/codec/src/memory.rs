//! Prefetching of memory.

/// Prefetches the cache line at offset `at`, without waiting for it. Does nothing where `at` is past the end, or on
/// processors without such an instruction.
#[inline]
pub fn prefetch(bytes: &[u8], at: usize) {
    let Some(byte) = bytes.get(at) else {
        return;
    };
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has SSE; a prefetch reads nothing that a program could see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch reads nothing that a program could see, and changes nothing.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{at}]", at = in(reg) std::ptr::from_ref(byte),
            options(readonly, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = byte;
}
