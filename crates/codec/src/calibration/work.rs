//! Timed runs: the work of one run of each kernel.

use super::inputs::{Inputs, Line, TAIL};
use crate::kernels::{self, Kernel};
use crate::packed::{self, BLOCK};
use crate::rice::{self, follow};
use crate::sums::ROW;
use crate::{bits, docs, elias_fano, lanes, limits, sorted, sums, tail};
use std::hint::black_box;

/// Rows of sums.
const ROWS: usize = 16;
/// Number of values that a phrase reads of a block of positions.
const FEW: usize = 8;

/// Returns one run of a kernel, in the form in use when it is called.
pub(super) fn of<'a>(kernel: Kernel, inputs: &'a Inputs) -> Box<dyn FnMut() + 'a> {
    if let Some(bits) = kernel.bits() {
        return of_width(kernel, bits, inputs);
    }
    match kernel {
        kernels::COUNT | kernels::JOIN | kernels::INTERSECT | kernels::SET | kernels::FIND => {
            of_bits(kernel, inputs)
        }
        kernels::RICE_ONE_BY_ONE
        | kernels::RICE
        | kernels::RICE_SUMS_ONE_BY_ONE
        | kernels::RICE_SUMS
        | kernels::COUNT_FOLLOWED
        | kernels::ELIAS_FANO_ONE_BY_ONE
        | kernels::ELIAS_FANO => of_high_and_low_parts(kernel, inputs),
        _ => of_blocks(kernel, inputs),
    }
}

fn of_width<'a>(kernel: Kernel, bits: usize, inputs: &'a Inputs) -> Box<dyn FnMut() + 'a> {
    let mut values = Line([0; BLOCK]);
    let payload = inputs.payload_of(bits);
    match kernel == kernels::unpack(bits) {
        true => Box::new(move || packed::unpack(bits, black_box(payload), black_box(values.all()))),
        false => Box::new(move || {
            packed::unpack_sum(bits, black_box(payload), 7, black_box(values.all()));
        }),
    }
}

fn of_bits<'a>(kernel: Kernel, inputs: &'a Inputs) -> Box<dyn FnMut() + 'a> {
    let mut words = Line(inputs.words.0);
    match kernel {
        kernels::COUNT => Box::new(|| {
            black_box(bits::count(black_box(&inputs.words.0)));
        }),
        kernels::JOIN => {
            let more = inputs.words.0.map(u64::to_le_bytes);
            Box::new(move || bits::join(black_box(words.all()), black_box(&more)))
        }
        kernels::INTERSECT => {
            Box::new(move || bits::intersect(black_box(words.all()), black_box(&inputs.words.0)))
        }
        kernels::SET => {
            Box::new(move || bits::set(black_box(words.all()), 0, black_box(&inputs.docs.0)))
        }
        _ => {
            let mut pairs = sorted::Pairs::default();
            Box::new(move || {
                let (set, pairs) = (black_box(&inputs.set), black_box(&mut pairs));
                // Most searches want a few documents of a block.
                for wanted in inputs.docs.0.chunks(FEW) {
                    black_box(docs::find(set, 0, black_box(&wanted[..3]), pairs));
                }
            })
        }
    }
}

fn of_high_and_low_parts<'a>(kernel: Kernel, inputs: &'a Inputs) -> Box<dyn FnMut() + 'a> {
    let mut values = Line([0; BLOCK]);
    let positions = &inputs.positions[..];
    // A few values and all values: phrases read both.
    type Decode = fn(&[u8], usize, usize, &mut [u32]) -> Result<(), crate::CodecError>;
    let decoding = |decode: Decode| -> Box<dyn FnMut() + 'a> {
        Box::new(move || {
            for from in (0..BLOCK - FEW).step_by(50) {
                let few = &mut values.all()[..FEW];
                let _ = black_box(decode(black_box(positions), BLOCK, from, few));
            }
            let _ = black_box(decode(black_box(positions), BLOCK, 0, values.all()));
        })
    };
    match kernel {
        kernels::RICE_ONE_BY_ONE => decoding(rice::decode_one_by_one),
        kernels::RICE => decoding(rice::decode),
        kernels::RICE_SUMS_ONE_BY_ONE => decoding(|bytes, count, from, values| {
            rice::decode_sums_one_by_one(bytes, count, from, 0, values)
        }),
        kernels::RICE_SUMS => {
            decoding(|bytes, count, from, values| rice::decode_sums(bytes, count, from, 0, values))
        }
        kernels::COUNT_FOLLOWED => {
            let mut counts = vec![0; inputs.stretches.len()];
            Box::new(move || {
                let word = follow::Word {
                    bytes: black_box(positions),
                    stretches: &inputs.stretches,
                };
                follow::count_followed(word, word, 3, black_box(&mut counts));
            })
        }
        kernels::ELIAS_FANO => Box::new(move || {
            let _ = black_box(elias_fano::decode(
                &inputs.tail,
                0,
                &mut values.all()[..TAIL],
            ));
        }),
        _ => Box::new(move || {
            let documents = &mut values.all()[..TAIL];
            let _ = black_box(elias_fano::decode_one_by_one(&inputs.tail, 0, documents));
        }),
    }
}

fn of_blocks<'a>(kernel: Kernel, inputs: &'a Inputs) -> Box<dyn FnMut() + 'a> {
    /// A score that a tenth of the scores reach.
    const LEAST: f32 = 9.0;
    let (mut values, mut more) = (Line([0; BLOCK]), Line([0; BLOCK]));
    let (mut kept, mut picked) = (Line([0; BLOCK]), Line(inputs.lengths));
    let mut scores = Line([0.0; BLOCK]);
    match kernel {
        kernels::SATURATE => Box::new(move || {
            let frequencies = black_box(&inputs.frequencies.0);
            lanes::saturate(5.5, 1024.0, frequencies, &inputs.factors.0, scores.all());
            black_box(scores.all());
        }),
        kernels::MAX => Box::new(|| {
            black_box(lanes::max(black_box(&inputs.docs.0)));
        }),
        kernels::SUM => Box::new(|| {
            black_box(lanes::sum(black_box(&inputs.gaps)));
        }),
        kernels::ADD_ONE => Box::new(move || lanes::add_one(black_box(values.all()))),
        kernels::AT_LEAST_ONE_BY_ONE => Box::new(move || {
            let scores = black_box(&inputs.scores.0);
            black_box(lanes::at_least_one_by_one(scores, LEAST, kept.all()));
        }),
        kernels::AT_LEAST => Box::new(move || {
            black_box(lanes::at_least(
                black_box(&inputs.scores.0),
                LEAST,
                kept.all(),
            ));
        }),
        kernels::SORTED_INTERSECT => {
            let mut pairs = sorted::Pairs::default();
            Box::new(move || {
                let wanted = black_box(&inputs.wanted);
                black_box(sorted::intersect(wanted, &inputs.docs.0, &mut pairs));
            })
        }
        kernels::KEEP_FOLLOWED => Box::new(move || {
            // Positions of two words in a few documents, one after another.
            let places = inputs.docs.0.chunks(10).zip(values.all().chunks_mut(10));
            for (places, starts) in places {
                starts.copy_from_slice(places);
                black_box(sorted::keep_followed(starts, 1, black_box(places)));
            }
        }),
        kernels::SPREAD => Box::new(move || {
            black_box(docs::documents_of(black_box(&inputs.set), 0, values.all()));
        }),
        kernels::SHORTER => Box::new(move || {
            let frequencies = black_box(&inputs.frequencies.0);
            let (lengths, limits) = (&inputs.lengths, &inputs.limits);
            black_box(limits::shorter(frequencies, lengths, limits, kept.all()));
        }),
        kernels::PICK_BITS => {
            let bytes = vec![7; inputs.set.len() * 64];
            Box::new(move || {
                let set = black_box(&inputs.set);
                black_box(limits::pick_bits(&bytes, 0, set, picked.all()));
            })
        }
        kernels::REACH => {
            let rows = inputs.scores.0.as_chunks::<ROW>().0;
            Box::new(move || {
                for row in rows {
                    black_box(sums::reach(black_box(row), LEAST));
                }
            })
        }
        kernels::DRAIN => {
            let mut rows = Line([[0.0; ROW]; ROWS]);
            Box::new(move || {
                // Few of 64 documents have a sum, and fewer a sum that reaches the threshold.
                for (at, &score) in inputs.scores.0.iter().step_by(4).enumerate() {
                    rows.all()[at % ROWS][at] = score;
                }
                let mut count = 0;
                black_box(sums::drain(
                    black_box(rows.all()),
                    0,
                    LEAST,
                    &mut count,
                    values.all(),
                    scores.all(),
                ));
            })
        }
        kernels::TAIL => Box::new(move || {
            let (mut at, mut doc) = (0, 0);
            let postings = black_box(&inputs.postings);
            let (docs, frequencies) = (values.all(), more.all());
            black_box(tail::decode_quick(
                postings,
                &mut at,
                &mut doc,
                docs,
                frequencies,
            ));
        }),
        kernels::ENCODE => {
            let mut out = Vec::new();
            Box::new(move || {
                out.clear();
                packed::encode(black_box(&inputs.gaps), black_box(&mut out));
            })
        }
        _ => Box::new(move || {
            *values.all() = inputs.gaps;
            packed::prefix_sum(black_box(values.all()), 7);
        }),
    }
}
