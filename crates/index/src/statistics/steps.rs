//! Steps of long loops over terms, at which a merge keeps its pace or ends.

use crate::IndexError;

/// Terms of a step, less than a millisecond of work.
const STEP_TERMS: u32 = 1024;

/// Counter of the terms of a loop.
pub(crate) struct TermSteps<'a> {
    step: &'a dyn Fn() -> Result<(), IndexError>,
    left: u32,
}

impl<'a> TermSteps<'a> {
    /// Calls `step` every thousand terms; its error ends the loop.
    pub(crate) fn new(step: &'a dyn Fn() -> Result<(), IndexError>) -> TermSteps<'a> {
        let left = STEP_TERMS;
        TermSteps { step, left }
    }

    /// Steps of a loop that cannot be cancelled, as in a commit.
    pub(crate) fn free() -> TermSteps<'static> {
        TermSteps::new(&|| Ok(()))
    }

    /// Counts a term.
    ///
    /// # Errors
    /// Returned by the step: the loop ends.
    #[inline]
    pub(crate) fn term(&mut self) -> Result<(), IndexError> {
        self.left -= 1;
        if self.left > 0 {
            return Ok(());
        }
        self.left = STEP_TERMS;
        (self.step)()
    }
}
