//! Forms of the codec's kernels in this process: their choice and their report.

use anyhow::bail;
use codec::calibration::{self, Choice};
use codec::processor::{self, Level};
use serde_json::{Map, Value, json};

/// Environment variable that chooses the forms; if unset, they are measured at start.
const VARIABLE: &str = "SHORTTAIL_KERNELS";

/// Chooses the forms, before the first query: the fastest ones on this machine, or those of the environment variable.
pub fn choose() -> anyhow::Result<()> {
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

/// Returns the names of the forms that this processor supports.
pub fn there() -> impl Iterator<Item = &'static str> {
    let levels = Level::ALL.into_iter().filter(|level| level.is_there());
    levels.map(Level::name)
}

/// Returns the chosen forms as JSON: that of most kernels, and the others by name.
pub fn as_json() -> Value {
    let others: Map<String, Value> = others()
        .map(|choice| (name(&choice), choice.form.name().into()))
        .collect();
    json!({ "newest": processor::level().name(), "older": others })
}

/// Returns the chosen forms as a line of text.
pub fn as_line() -> String {
    /// Upper limit on named kernels; of more, only the count is given.
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

/// Returns the kernels whose form is older than the newest supported one.
fn others() -> impl Iterator<Item = Choice> {
    let choices = calibration::choices().into_iter();
    choices.filter(|choice| choice.form != choice.newest)
}

/// Returns the name of a kernel, with its bit width if it has one.
pub fn name(choice: &Choice) -> String {
    match choice.bits {
        Some(bits) => format!("{} {bits} bits", choice.kernel),
        None => choice.kernel.to_owned(),
    }
}
