//! Repetition of simulations with other seeds, which gives the error of their figures.

use stats::Estimate;

/// Returns an estimate of each of `N` figures over `runs` runs with seeds `seed`, `seed + 1`, ….
pub fn replicate<const N: usize, E>(
    seed: u64,
    runs: usize,
    mut run: impl FnMut(u64) -> Result<[f64; N], E>,
) -> Result<[Estimate; N], E> {
    let mut figures: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(runs));
    for number in 0..runs as u64 {
        for (list, figure) in figures.iter_mut().zip(run(seed.wrapping_add(number))?) {
            list.push(figure);
        }
    }
    Ok(figures.map(|list| Estimate::of(&list)))
}
