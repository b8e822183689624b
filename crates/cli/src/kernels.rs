//! In which form does each kernel of the codec run in this process, and how is that told?

use anyhow::bail;
use codec::calibration::{self, Choice, Timed};
use codec::processor::{self, Level};
use lab::{Capability, State};
use serde_json::{Map, Value, json};

/// What the forms follow; unset, what is measured at start.
const VARIABLE: &str = "SHORTTAIL_KERNELS";

/// Chooses the forms, before the first query: the fastest here, or what the environment asks for.
pub(crate) fn choose() -> anyhow::Result<()> {
    let Some(asked) = std::env::var_os(VARIABLE) else {
        codec::calibrate();
        return Ok(());
    };
    match asked.to_str() {
        Some("measured") => {
            codec::calibrate();
        }
        Some("newest") => calibration::choose_at_most(processor::level()),
        name => {
            let Some(most) = name.and_then(Level::of_name).filter(|most| most.is_there()) else {
                let there: Vec<&str> = there().collect();
                bail!(
                    "{VARIABLE}: {asked:?} is not measured, newest, nor a form of this processor ({})",
                    there.join(", ")
                );
            };
            calibration::choose_at_most(most);
        }
    }
    Ok(())
}

fn there() -> impl Iterator<Item = &'static str> {
    let levels = Level::ALL.into_iter().filter(|level| level.is_there());
    levels.map(Level::name)
}

/// The forms now taken, for a program: those of most kernels, and the others by name.
pub(crate) fn as_json() -> Value {
    let others: Map<String, Value> = others()
        .map(|choice| (name(&choice), choice.form.name().into()))
        .collect();
    json!({ "newest": processor::level().name(), "older": others })
}

/// The same in a line for a person.
pub(crate) fn as_line() -> String {
    /// More are counted alone.
    const NAMED_MAX: usize = 6;
    let newest = processor::level().name();
    let others: Vec<String> = others()
        .map(|choice| format!("{} {}", name(&choice), choice.form.name()))
        .collect();
    match others.len() {
        0 => format!("kernels: {newest}"),
        1..=NAMED_MAX => format!("kernels: {newest}, but {}", others.join(", ")),
        count => format!("kernels: {newest}, but {count} in older forms"),
    }
}

/// Kernels that take an older form than they could.
fn others() -> impl Iterator<Item = Choice> {
    let choices = calibration::choices().into_iter();
    choices.filter(|choice| choice.form != choice.newest)
}

/// What is measured on this machine, as the doctor tells it.
pub(crate) fn capability() -> Capability {
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
        // Bit widths of one kernel that take one form stand together, their times summed.
        evidence: measured
            .chunk_by(|one, next| one.kernel == next.kernel && one.form == next.form)
            .map(evidence)
            .collect(),
        remedy: String::new(),
    }
}

/// A machine that is only recorded runs nothing.
pub(crate) fn not_here() -> Capability {
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

fn name(choice: &Choice) -> String {
    match choice.bits {
        Some(bits) => format!("{} {bits} bits", choice.kernel),
        None => choice.kernel.to_owned(),
    }
}
