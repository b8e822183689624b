//! Layout of a block of packed integers: its sizes, and its rows and widths as constants.

/// Integers in a block.
pub const BLOCK: usize = 256;

pub(super) const LANES: usize = 8;
pub(super) const ROWS: usize = BLOCK / LANES;
pub(crate) const ROW_BYTES: usize = 4 * LANES;
/// The first byte of a constant block, which is no bit width.
pub(super) const CONSTANT: u8 = 0x40;

/// Builds a table `[function::<0>, …, function::<32>]`, indexed by the bit width.
macro_rules! by_width {
    ($function:ident $(, $more:literal)*) => {
        by_width!(@ $function [$($more)*]
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32)
    };
    (@ $function:ident $more:tt $($bits:literal)*) => {
        [$(by_width!(# $function $bits $more)),*]
    };
    (# $function:ident $bits:literal [$($more:literal)*]) => { $function::<$bits $(, $more)*> };
}
pub(super) use by_width;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
/// Runs `$body` for rows 0 to 31 with `$row` a constant, so that shifts become immediates.
macro_rules! for_each_row {
    ($row:ident => $body:block) => {
        for_each_row!(@ $row $body
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
    };
    (@ $row:ident $body:block $($at:literal)*) => {
        $({ const $row: usize = $at; $body })*
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use for_each_row;
