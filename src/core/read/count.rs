//! Counts that JavaScript gives as numbers.

use crate::core::error::Error;

/// The largest integer that JavaScript holds exactly.
pub(super) const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Checks a count given as a JavaScript number.
///
/// # Errors
/// Fails with `invalid_argument` naming `argument` unless it is an integer of at least `least`.
pub fn check_count(argument: &'static str, number: f64, least: usize) -> Result<usize, Error> {
    if number.fract() == 0.0 && number >= least as f64 && number <= MAX_SAFE_INTEGER {
        return Ok(number as usize);
    }
    let rule = format!("must be a whole number from {least} up");
    Err(Error::invalid_number(argument, &rule, number))
}
