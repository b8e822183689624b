//! Calibration of the codec's kernels as a capability of the machine.

use codec::calibration::{Choice, Timed};
use console::kernels::{name, there};
use lab::{Capability, State};

/// Measures all forms on this machine.
pub(super) fn capability() -> Capability {
    let measured = codec::calibrate();
    let older = measured.iter().filter(|one| one.form != one.newest).count();
    let forms: Vec<&str> = there().collect();
    Capability {
        id: "kernels".to_owned(),
        state: State::Available,
        reason: format!(
            "{}; {older} of {} kernels take an older form",
            forms.join(", "),
            measured.len()
        ),
        // Bit widths of one kernel with the same form are grouped, and their times summed.
        evidence: measured
            .chunk_by(|one, next| one.kernel == next.kernel && one.form == next.form)
            .map(evidence)
            .collect(),
        remedy: String::new(),
    }
}

/// Returns the capability of a recorded machine, which cannot run kernels.
pub(super) fn not_here() -> Capability {
    Capability {
        id: "kernels".to_owned(),
        state: State::Unavailable,
        reason: "measured on the machine itself alone".to_owned(),
        evidence: Vec::new(),
        remedy: String::new(),
    }
}

fn evidence(alike: &[Choice]) -> String {
    let [first, .., last] = alike else {
        return alike
            .first()
            .map_or_else(String::new, |one| line(one, &name(one), alike));
    };
    let bits = |choice: &Choice| {
        choice
            .bits
            .map_or_else(String::new, |bits| bits.to_string())
    };
    let name = format!("{} {} to {} bits", first.kernel, bits(first), bits(last));
    line(first, &name, alike)
}

fn line(choice: &Choice, name: &str, alike: &[Choice]) -> String {
    let time = |(at, timed): (usize, &Timed)| {
        let ns: f64 = alike
            .iter()
            .filter_map(|one| Some(one.timed.get(at)?.ns))
            .sum();
        format!("{} {ns:.0} ns", timed.form.name())
    };
    let times: Vec<String> = choice.timed.iter().enumerate().map(time).collect();
    format!("{name}: {} ({})", choice.form.name(), times.join(", "))
}
