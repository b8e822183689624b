//! Bit sets: counting, joining and intersecting them a word at a time.
//!
//! Plain code, compiled once for every processor and again for newer ones. There, counting the bits of a word is one
//! instruction, and eight words fit one register.

/// Defines a function and its forms for newer processors from one body. The named kernel selects the form at run time.
macro_rules! for_each_processor {
    ($(#[$doc:meta])* pub fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $body:ident, $kernel:ident) => {
        $(#[$doc])*
        #[inline]
        pub fn $name($($argument: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
                fn avx2($($argument: $type),*) $(-> $result)? {
                    $body($($argument),*)
                }
                #[target_feature(
                    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt,bmi1,bmi2,lzcnt"
                )]
                fn avx512($($argument: $type),*) $(-> $result)? {
                    $body($($argument),*)
                }
                match crate::kernels::$kernel.form() {
                    // SAFETY: the processor supports the target features of this function.
                    crate::processor::Level::Avx512 => return unsafe { avx512($($argument),*) },
                    // SAFETY: as above.
                    crate::processor::Level::Avx2 => return unsafe { avx2($($argument),*) },
                    _ => {}
                }
            }
            $body($($argument),*)
        }
    };
}
pub(crate) use for_each_processor;

for_each_processor! {
    /// Counts the bits that are set.
    pub fn count(words: &[u64]) -> u64 = count_any, COUNT
}

for_each_processor! {
    /// Sets in `words` all bits of `more`, whose words are little-endian as in a file. Where one slice is longer, the
    /// rest of `words` stays unchanged and the rest of `more` is ignored.
    pub fn join(words: &mut [u64], more: &[[u8; 8]]) -> () = join_any, JOIN
}

for_each_processor! {
    /// Intersects `words` with `other` in place. Words past the end of `other` become 0.
    pub fn intersect(words: &mut [u64], other: &[u64]) -> () = intersect_any, INTERSECT
}

for_each_processor! {
    /// Sets the bit of every value, counted from `base`. No value may be below `base`; values past the end of `words`
    /// are ignored.
    pub fn set(words: &mut [u64], base: u32, values: &[u32]) -> () = set_any, SET
}

/// Sets the bit of every value that has one in `words`, counted from `base`; values are increasing. They are clipped before,
/// since a long list may have few of them there.
pub fn set_sorted(words: &mut [u64], base: u32, values: &[u32]) {
    let end = u64::from(base) + words.len() as u64 * 64;
    let from = match values.first() {
        Some(&first) if first < base => values.partition_point(|&value| value < base),
        _ => 0,
    };
    let to = match values.last() {
        Some(&last) if u64::from(last) >= end => {
            values.partition_point(|&value| u64::from(value) < end)
        }
        _ => values.len(),
    };
    set(words, base, &values[from..to]);
}

#[inline(always)]
fn count_any(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

#[inline(always)]
fn join_any(words: &mut [u64], more: &[[u8; 8]]) {
    for (word, more) in words.iter_mut().zip(more) {
        *word |= u64::from_le_bytes(*more);
    }
}

#[inline(always)]
fn intersect_any(words: &mut [u64], other: &[u64]) {
    let shared = words.len().min(other.len());
    let (both, alone) = words.split_at_mut(shared);
    for (word, other) in both.iter_mut().zip(other) {
        *word &= other;
    }
    alone.fill(0);
}

#[inline(always)]
fn set_any(words: &mut [u64], base: u32, values: &[u32]) {
    let mut one = |value: u32| {
        let at = value.wrapping_sub(base);
        if let Some(word) = words.get_mut(at as usize / 64) {
            *word |= 1 << (at % 64);
        }
    };
    // Neighbouring values share words, and a word must be written before it is read again. Four quarters processed side
    // by side do not wait for each other.
    let quarter = values.len() / 4;
    let (first, rest) = values.split_at(quarter);
    let (second, rest) = rest.split_at(quarter);
    let (third, fourth) = rest.split_at(quarter);
    for (((&a, &b), &c), &d) in first.iter().zip(second).zip(third).zip(fourth) {
        one(a);
        one(b);
        one(c);
        one(d);
    }
    fourth[quarter..].iter().copied().for_each(one);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorted_values_are_set_where_they_lie(
            words_count in 0usize..12,
            base in 0u32..900,
            values in prop::collection::btree_set(0u32..1800, 0..300),
        ) {
            let mut expected = vec![0; words_count];
            let end = base + 64 * words_count as u32;
            for at in values.range(base..end).map(|value| value - base) {
                expected[at as usize / 64] |= 1 << (at % 64);
            }
            let mut words = vec![0; words_count];
            set_sorted(&mut words, base, &values.into_iter().collect::<Vec<u32>>());
            prop_assert_eq!(words, expected);
        }

        #[test]
        fn every_form_is_the_plain_one(
            words in prop::collection::vec(any::<u64>(), 0..40),
            other in prop::collection::vec(any::<u64>(), 0..40),
            values in prop::collection::vec(100u32..3000, 0..300),
        ) {
            let of = [kernels::COUNT, kernels::JOIN, kernels::INTERSECT, kernels::SET];
            kernels::in_each_form(&of, || {
                let mut words = words.clone();
                let mut plain = words.clone();
                prop_assert_eq!(count(&words), count_any(&plain));
                let bytes: Vec<[u8; 8]> = other.iter().map(|word| word.to_le_bytes()).collect();
                let mut joined = words.clone();
                joined.iter_mut().zip(&other).for_each(|(word, more)| *word |= more);
                join(&mut words, &bytes);
                prop_assert_eq!(&joined, &words);
                join_any(&mut plain, &bytes);
                prop_assert_eq!(&words, &plain);
                set(&mut words, 100, &values);
                set_any(&mut plain, 100, &values);
                prop_assert_eq!(&words, &plain);
                for &value in &values {
                    let at = value as usize - 100;
                    prop_assert!(at / 64 >= words.len() || words[at / 64] >> (at % 64) & 1 == 1);
                }
                intersect(&mut words, &other);
                intersect_any(&mut plain, &other);
                prop_assert_eq!(&words, &plain);
                for (at, word) in words.iter().enumerate() {
                    prop_assert_eq!(word & !other.get(at).copied().unwrap_or(0), 0);
                }
                Ok(())
            })?;
        }
    }
}
