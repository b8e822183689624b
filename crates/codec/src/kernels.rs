//! Kernels and the form that each uses.
//!
//! A kernel is a function with several forms: plain code, and forms for newer processors that give the same bits. The
//! selection of each kernel is one byte, read as cheaply as a constant from memory. The initial selection is the newest
//! form that the processor supports; [`crate::calibrate`] replaces it by the fastest.
//!
//! Invariant: a form that the processor does not support is never selected. All calls of forms rest on it.

use crate::processor::Level;
use std::sync::atomic::{AtomicU8, Ordering};

/// A function with several forms, by its index in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kernel(u8);

/// Properties of a kernel that do not depend on the processor.
struct About {
    name: &'static str,
    /// The forms, from the plainest to the newest.
    forms: &'static [Level],
}

macro_rules! kernels {
    ($($constant:ident $name:literal $($form:ident)*;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Place { $($constant,)* End }
        $(pub(crate) const $constant: Kernel = Kernel(Place::$constant as u8);)*
        /// Number of kernels with one selection. The others have one for each bit width.
        const SINGLE: usize = Place::End as usize;
        static ABOUT: [About; SINGLE] = [$(About { name: $name, forms: &[$(Level::$form),*] }),*];
    };
}

// A kernel that another one calls comes before it (the twin before `at_least`), so it is calibrated first.
kernels! {
    COUNT "bits::count" Any Avx2 Avx512;
    JOIN "bits::join" Any Avx2 Avx512;
    INTERSECT "bits::intersect" Any Avx2 Avx512;
    SET "bits::set" Any Avx2 Avx512;
    SATURATE "lanes::saturate" Any Avx2 Avx512;
    MAX "lanes::max" Any Avx2 Avx512;
    SUM "lanes::sum" Any Avx2 Avx512;
    ADD_ONE "lanes::add_one" Any Avx2 Avx512;
    AT_LEAST_ONE_BY_ONE "lanes::at_least_one_by_one" Any Avx2 Avx512;
    AT_LEAST "lanes::at_least" Any Avx512 Neon;
    SORTED_INTERSECT "sorted::intersect" Any Avx2 Avx512 Neon;
    KEEP_FOLLOWED "sorted::keep_followed" Any Avx2 Avx512;
    SPREAD "docs::spread" Any Avx512 Neon;
    FIND "docs::find" Any Avx2 Avx512;
    SHORTER "limits::shorter" Any Avx512 Neon;
    PICK_BITS "limits::pick_bits" Any Avx512 Neon;
    REACH "sums::reach" Any Avx2 Avx512 Neon;
    DRAIN "sums::drain" Any Avx512;
    RICE_ONE_BY_ONE "rice::decode_one_by_one" Any Avx2 Avx512;
    RICE "rice::decode" Any Avx512;
    RICE_SUMS_ONE_BY_ONE "rice::decode_sums_one_by_one" Any Avx2 Avx512;
    RICE_SUMS "rice::decode_sums" Any Avx512;
    COUNT_FOLLOWED "rice::follow::count_followed" Any Avx512;
    ELIAS_FANO_ONE_BY_ONE "elias_fano::decode_one_by_one" Any Avx2 Avx512;
    ELIAS_FANO "elias_fano::decode" Any Avx512;
    TAIL "tail::decode_quick" Any Avx2 Avx512;
    ENCODE "packed::encode" Any Avx2;
    PREFIX_SUM "packed::prefix_sum" Any Avx2 Avx512 Neon;
}

/// Number of bit widths of packed blocks, 0 to 32; each has a selection of its own.
const WIDTHS: usize = 33;
const FAMILIES: usize = 2;
static OF_WIDTHS: [About; FAMILIES] = [
    About {
        name: "packed::unpack",
        forms: &Level::ALL,
    },
    About {
        name: "packed::unpack_sum",
        forms: &Level::ALL,
    },
];
const COUNT_ALL: usize = SINGLE + FAMILIES * WIDTHS;

/// Mark of a kernel without a selection.
const UNKNOWN: u8 = 0;

/// The selected forms, all within two cache lines.
#[repr(align(64))]
struct Chosen([AtomicU8; COUNT_ALL]);

static CHOSEN: Chosen = Chosen([const { AtomicU8::new(UNKNOWN) }; COUNT_ALL]);

/// Returns the kernel that unpacks values of `bits` bits, at most 32.
#[inline(always)]
pub(crate) fn unpack(bits: usize) -> Kernel {
    Kernel((SINGLE + bits) as u8)
}

/// Returns the kernel that unpacks gaps of `bits` bits, at most 32, and sums them.
#[inline(always)]
pub(crate) fn unpack_sum(bits: usize) -> Kernel {
    Kernel((SINGLE + WIDTHS + bits) as u8)
}

impl Kernel {
    /// Returns all kernels, callees before callers.
    pub(crate) fn all() -> impl Iterator<Item = Kernel> {
        (0..COUNT_ALL as u8).map(Kernel)
    }

    /// Returns the selected form, which the processor supports.
    #[inline(always)]
    pub(crate) fn form(self) -> Level {
        match CHOSEN.0[usize::from(self.0)].load(Ordering::Relaxed) {
            UNKNOWN => self.take_newest(),
            1 => Level::Any,
            2 => Level::Avx2,
            3 => Level::Avx512,
            _ => Level::Neon,
        }
    }

    #[cold]
    fn take_newest(self) -> Level {
        let newest = self.newest(crate::processor::level());
        // Keeps a selection that another thread has made meanwhile. `newest` returns only supported forms.
        let chosen = &CHOSEN.0[usize::from(self.0)];
        let _ =
            chosen.compare_exchange(UNKNOWN, newest as u8, Ordering::Relaxed, Ordering::Relaxed);
        newest
    }

    /// Selects a form for all later calls.
    ///
    /// # Panics
    /// If the kernel has no such form or the processor does not support it: every call rests on that.
    pub(crate) fn choose(self, form: Level) {
        assert!(form.is_there() && self.about().forms.contains(&form));
        CHOSEN.0[usize::from(self.0)].store(form as u8, Ordering::Relaxed);
    }

    /// Returns the newest supported form that is not newer than `most`.
    pub(crate) fn newest(self, most: Level) -> Level {
        let forms = self.forms().filter(|form| *form as u8 <= most as u8);
        forms.last().unwrap_or(Level::Any)
    }

    /// Returns the supported forms, from the plainest to the newest.
    pub(crate) fn forms(self) -> impl Iterator<Item = Level> {
        let forms = self.about().forms.iter().copied();
        forms.filter(|form| form.is_there())
    }

    /// Returns the module and function of the kernel.
    pub(crate) fn name(self) -> &'static str {
        self.about().name
    }

    /// Returns the bit width of the kernel, where it is for one width.
    pub(crate) fn bits(self) -> Option<usize> {
        let at = usize::from(self.0).checked_sub(SINGLE)?;
        Some(at % WIDTHS)
    }

    fn about(self) -> &'static About {
        const { assert!(COUNT_ALL <= 256) };
        match usize::from(self.0).checked_sub(SINGLE) {
            None => &ABOUT[usize::from(self.0)],
            Some(at) => &OF_WIDTHS[at / WIDTHS],
        }
    }
}

/// Runs a check in each supported form of `kernels`, then selects the newest forms again. Holds a lock, so that no
/// other thread selects another form meanwhile.
#[cfg(test)]
pub(crate) fn in_each_form<E>(
    kernels: &[Kernel],
    mut check: impl FnMut() -> Result<(), E>,
) -> Result<(), E> {
    let _alone = crate::calibration::alone();
    let run = |most: Level, check: &mut dyn FnMut() -> Result<(), E>| {
        kernels
            .iter()
            .for_each(|kernel| kernel.choose(kernel.newest(most)));
        check()
    };
    for most in Level::ALL.into_iter().filter(|level| level.is_there()) {
        run(most, &mut check)?;
    }
    Ok(())
}

/// Runs a check that panics in each form, as [`in_each_form`].
#[cfg(test)]
pub(crate) fn check_each_form(kernels: &[Kernel], mut check: impl FnMut()) {
    let Ok(()) = in_each_form(kernels, || {
        check();
        Ok::<(), std::convert::Infallible>(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_have_a_plain_form_and_newer_ones_in_order() {
        let mut names = std::collections::BTreeSet::new();
        for kernel in Kernel::all() {
            let forms: Vec<Level> = kernel.forms().collect();
            assert_eq!(forms[0], Level::Any);
            assert!(forms.is_sorted_by_key(|form| *form as u8));
            assert!(names.insert((kernel.name(), kernel.bits())));
        }
        assert_eq!(names.len(), COUNT_ALL);
        assert_eq!(
            (unpack(32).bits(), unpack_sum(0).bits()),
            (Some(32), Some(0))
        );
        assert_eq!(unpack(32).name(), "packed::unpack");
        assert_eq!(unpack_sum(0).name(), "packed::unpack_sum");
        assert_eq!((COUNT.name(), COUNT.bits()), ("bits::count", None));
    }

    #[test]
    fn what_is_chosen_is_taken() {
        let mut seen = Vec::new();
        let checked: Result<(), ()> = in_each_form(&[SUM, unpack(7)], || {
            seen.push((SUM.form(), unpack(7).form()));
            Ok(())
        });
        assert_eq!(checked, Ok(()));
        let levels = Level::ALL.into_iter().filter(|level| level.is_there());
        let expected: Vec<_> = levels
            .map(|level| (SUM.newest(level), unpack(7).newest(level)))
            .collect();
        // The last of them is what stays selected; after the check, another test may select.
        assert_eq!(seen, expected);
        let newest = crate::processor::level();
        assert_eq!(
            seen.last(),
            Some(&(SUM.newest(newest), unpack(7).newest(newest)))
        );
    }
}
