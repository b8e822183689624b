//! Which form of each kernel is the fastest on this processor?
//!
//! Newer instructions are mostly faster, and not always: a gather, a compressing store or a wide vector can cost more
//! than it spares, and no list of processors stays right. So every form that the processor has runs over
//! [made-up inputs](inputs), in turns, each several times; the least time of a form counts, for whatever disturbs a run
//! makes it longer. The newest form is kept unless an older one is faster by a tenth, and again each time that it is
//! doubted: noise shall not choose.
//!
//! All forms give the same bits, so what is chosen, and when, changes no answer. The cost is a few milliseconds,
//! once; [`calibrate`] is for programs that search for longer than that. Limits: inputs lie in the first-level cache,
//! one thread runs, and inputs unlike real ones may favour another form.

mod inputs;
mod work;

use crate::kernels::Kernel;
use crate::processor::{self, Level};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// The form that a kernel takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Module and function.
    pub kernel: &'static str,
    /// The bit width that the kernel is for, where each has its own.
    pub bits: Option<usize>,
    /// The form taken.
    pub form: Level,
    /// The newest that the processor could run.
    pub newest: Level,
    /// What each form took, from the plainest to the newest. Empty where nothing was measured.
    pub timed: Vec<Timed>,
}

/// The time of a form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timed {
    /// The form.
    pub form: Level,
    /// The least time of one run over the made-up input, in nanoseconds.
    pub ns: f64,
}

/// Times of each form that the least is taken of.
const ROUNDS: usize = 7;
/// How long forms run each time, about.
const RUN_NS: f64 = 1000.0;
/// Runs of one time at most.
const REPEATS_MAX: usize = 100;
/// How often an older form must prove again that it is faster.
const DOUBTS: usize = 3;
/// An older form is taken where its time, so many times over, is still below the newest one's.
const MARGIN: f64 = 1.1;
/// A form that takes so many times the newest one's time after two rounds is not timed further.
const HOPELESS: f64 = 1.5;

static MEASURED: OnceLock<Vec<Choice>> = OnceLock::new();

/// Measures all forms of all kernels and takes the fastest of each from now on, in all threads. Once in a
/// process: later calls, and those that come meanwhile, get what the first found.
pub fn calibrate() -> &'static [Choice] {
    MEASURED.get_or_init(|| {
        let _alone = alone();
        let inputs = inputs::Inputs::new();
        let measure = |kernel| measure(kernel, &mut *work::of(kernel, &inputs));
        let mut choices: Vec<Choice> = Kernel::all().map(measure).collect();
        // Later, when what may have disturbed the first time is over.
        for _ in 0..DOUBTS {
            for (kernel, choice) in Kernel::all().zip(&mut choices) {
                doubt(kernel, choice, &mut *work::of(kernel, &inputs));
            }
        }
        choices
    })
}

/// Takes the newest form of each kernel that is not newer than `most`, of those whose instructions the processor has.
pub fn choose_at_most(most: Level) {
    let _alone = alone();
    for kernel in Kernel::all() {
        kernel.choose(kernel.newest(most));
    }
}

/// The forms taken now; with their times where [`calibrate`] has measured.
pub fn choices() -> Vec<Choice> {
    let measured = MEASURED.get().map_or(&[][..], |measured| &measured[..]);
    let choice = |(at, kernel): (usize, Kernel)| Choice {
        kernel: kernel.name(),
        bits: kernel.bits(),
        form: kernel.form(),
        newest: kernel.newest(processor::level()),
        timed: measured.get(at).map_or(vec![], |one| one.timed.clone()),
    };
    Kernel::all().enumerate().map(choice).collect()
}

/// Held by whoever tries forms one after another.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // Any choice is a right one: there is nothing that a panic could have left half done.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Measures the forms of a kernel, and chooses.
fn measure(kernel: Kernel, run: &mut dyn FnMut()) -> Choice {
    let newest = kernel.newest(processor::level());
    let mut choice = Choice {
        kernel: kernel.name(),
        bits: kernel.bits(),
        form: newest,
        newest,
        timed: Vec::new(),
    };
    if kernel.forms().count() > 1 {
        choice.timed = time(kernel, run);
        choice.form = fastest(&choice.timed).unwrap_or(choice.form);
    }
    kernel.choose(choice.form);
    choice
}

/// Measures once more where an older form was chosen: the newest is taken again unless it loses again.
fn doubt(kernel: Kernel, choice: &mut Choice, run: &mut dyn FnMut()) {
    if choice.form == choice.newest {
        return;
    }
    let again = time(kernel, run);
    choice.form = fastest(&again).unwrap_or(choice.newest);
    for (before, again) in choice.timed.iter_mut().zip(again) {
        before.ns = before.ns.min(again.ns);
    }
    kernel.choose(choice.form);
}

/// The least time of each form.
fn time(kernel: Kernel, run: &mut dyn FnMut()) -> Vec<Timed> {
    let untimed = |form| Timed {
        form,
        ns: f64::INFINITY,
    };
    let mut timed: Vec<Timed> = kernel.forms().map(untimed).collect();
    // Not counted: code and tables come from memory. The last is the newest form.
    let mut once_ns = 0.0;
    for one in &timed {
        kernel.choose(one.form);
        run();
        once_ns = ns_of(&mut *run);
    }
    let repeats = ((RUN_NS / once_ns.max(1.0)) as usize).clamp(1, REPEATS_MAX);
    for round in 0..ROUNDS {
        let newest_ns = timed.last().map_or(0.0, |newest| newest.ns);
        for one in &mut timed {
            if round >= 2 && one.ns > HOPELESS * newest_ns {
                continue;
            }
            kernel.choose(one.form);
            let ns = ns_of(|| (0..repeats).for_each(|_| run()));
            one.ns = one.ns.min(ns / repeats as f64);
        }
    }
    timed
}

fn ns_of(run: impl FnOnce()) -> f64 {
    let started = Instant::now();
    run();
    started.elapsed().as_nanos() as f64
}

/// The newest form, or an older one that is faster by the margin. Forms stand from the plainest to the newest.
fn fastest(timed: &[Timed]) -> Option<Level> {
    let (newest, older) = timed.split_last()?;
    let faster = older.iter().filter(|one| one.ns * MARGIN < newest.ns);
    let best = faster.min_by(|one, other| one.ns.total_cmp(&other.ns));
    Some(best.unwrap_or(newest).form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_form_has_to_be_faster_by_a_tenth() {
        let timed = |times: &[(Level, f64)]| -> Vec<Timed> {
            let of = |&(form, ns): &(Level, f64)| Timed { form, ns };
            times.iter().map(of).collect()
        };
        let [any, avx2, avx512, _] = Level::ALL;
        let chosen = |times: &[f64]| {
            let levels = [any, avx2, avx512].into_iter();
            let times: Vec<_> = levels.zip(times.iter().copied()).collect();
            fastest(&timed(&times))
        };
        assert_eq!(chosen(&[]), None);
        assert_eq!(chosen(&[9.0]), Some(any));
        assert_eq!(chosen(&[400.0, 100.0, 95.0]), Some(avx512));
        assert_eq!(chosen(&[400.0, 100.0, 109.0]), Some(avx512));
        assert_eq!(chosen(&[400.0, 100.0, 111.0]), Some(avx2));
        assert_eq!(chosen(&[90.0, 100.0, 111.0]), Some(any));
        assert_eq!(chosen(&[f64::INFINITY, 100.0, 99.0]), Some(avx512));
    }

    /// A form that loses every time is left, whichever it is.
    #[test]
    fn the_slower_form_is_not_chosen() {
        let _alone = alone();
        let kernel = crate::kernels::SUM;
        let forms: Vec<Level> = kernel.forms().collect();
        for slow in forms.clone() {
            let mut run = || {
                if kernel.form() == slow {
                    std::thread::sleep(std::time::Duration::from_micros(200));
                }
            };
            let mut choice = measure(kernel, &mut run);
            doubt(kernel, &mut choice, &mut run);
            assert!(forms.len() < 2 || choice.form != slow, "{choice:?}");
            assert_eq!(choice.form, kernel.form());
        }
        kernel.choose(kernel.newest(processor::level()));
    }

    #[test]
    fn every_kernel_is_measured_once_and_from_any_thread() {
        let at: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(calibrate)).collect();
            threads
                .into_iter()
                .map(|one| one.join().unwrap().as_ptr())
                .collect()
        });
        assert!(at.iter().all(|&one| std::ptr::eq(one, at[0])));
        let found = calibrate();
        assert_eq!(found.len(), Kernel::all().count());
        for (choice, kernel) in found.iter().zip(Kernel::all()) {
            let forms: Vec<Level> = kernel.forms().collect();
            assert!(forms.contains(&choice.form), "{choice:?}");
            let timed: Vec<Level> = choice.timed.iter().map(|one| one.form).collect();
            assert!(timed == forms || forms.len() == 1 && timed.is_empty());
            assert!(
                choice
                    .timed
                    .iter()
                    .all(|one| one.ns.is_finite() && one.ns > 0.0)
            );
        }
        let now = choices();
        assert_eq!(now.len(), found.len());
        assert!(
            now.iter()
                .zip(found)
                .all(|(now, found)| now.timed == found.timed)
        );
    }
}
