//! Calibration: selects the fastest form of each kernel on this processor.
//!
//! Newer instructions are mostly faster, but not always: a gather, a compressing store or a wide vector can cost more
//! than it saves, and no list of processors stays right. So every form that the processor supports runs over
//! [synthetic inputs](inputs), in turns, several times each. The least time of a form counts, because every
//! disturbance makes a run longer. The newest form is kept unless an older one is faster by a tenth, in the first
//! measurement and in each repetition, so that noise does not decide.
//!
//! All forms give the same bits, so the selection and its moment change no answer. It costs a few milliseconds, once;
//! [`calibrate`] is for programs that search for longer than that. Limits: the inputs fit the first-level cache, one
//! thread runs, and inputs unlike real ones may favour another form.

mod inputs;
mod work;

use crate::kernels::Kernel;
use crate::processor::{self, Level};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// The selected form of a kernel, with the timings behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Module and function of the kernel.
    pub kernel: &'static str,
    /// The bit width of the kernel, where each width has a kernel of its own.
    pub bits: Option<usize>,
    /// The form in use.
    pub form: Level,
    /// The newest form that the processor supports.
    pub newest: Level,
    /// The time of each form, from the plainest to the newest. Empty where nothing was measured.
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

/// Number of timings of each form; the least of them counts.
const ROUNDS: usize = 7;
/// Approximate duration of one timing, in nanoseconds.
const RUN_NS: f64 = 1000.0;
/// Upper limit on the runs within one timing.
const REPEATS_MAX: usize = 100;
/// Number of repetitions in which an older form must win again to be kept.
const DOUBTS: usize = 3;
/// Factor by which the newest form must be slower than an older one for the older one to be used.
const MARGIN: f64 = 1.1;
/// Factor over the newest form's time beyond which a form is not timed further, after two rounds.
const HOPELESS: f64 = 1.5;

static MEASURED: OnceLock<Vec<Choice>> = OnceLock::new();

/// Measures all forms of all kernels and selects the fastest of each, for all threads. Measures once in a
/// process: later and concurrent calls return the result of the first.
pub fn calibrate() -> &'static [Choice] {
    MEASURED.get_or_init(|| {
        let _alone = alone();
        let inputs = inputs::Inputs::new();
        let measure = |kernel| measure(kernel, &mut *work::of(kernel, &inputs));
        let mut choices: Vec<Choice> = Kernel::all().map(measure).collect();
        // Repeated later, when a disturbance of the first measurement may be over.
        for _ in 0..DOUBTS {
            for (kernel, choice) in Kernel::all().zip(&mut choices) {
                doubt(kernel, choice, &mut *work::of(kernel, &inputs));
            }
        }
        choices
    })
}

/// Selects the newest supported form of each kernel that is not newer than `most`.
pub fn choose_at_most(most: Level) {
    let _alone = alone();
    for kernel in Kernel::all() {
        kernel.choose(kernel.newest(most));
    }
}

/// Returns the forms in use, with their times where [`calibrate`] has measured them.
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

/// Locks out other threads that try forms one after another.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // Every selection is valid, so a panic leaves nothing half done.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Measures the forms of a kernel and selects one.
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

/// Measures again where an older form was selected. The newest form is used again unless it loses again.
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

/// Returns the least time of each form.
fn time(kernel: Kernel, run: &mut dyn FnMut()) -> Vec<Timed> {
    let untimed = |form| Timed {
        form,
        ns: f64::INFINITY,
    };
    let mut timed: Vec<Timed> = kernel.forms().map(untimed).collect();
    // Warm-up, not counted: code and tables come from memory. The last form is the newest.
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

/// Returns the newest form, or an older one that is faster by the margin. `timed` goes from the plainest to the newest.
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

    /// A form that loses every time is not selected, whichever it is.
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
