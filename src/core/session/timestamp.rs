//! Points in time: milliseconds since 1970.

use crate::core::error::Error;

/// The last millisecond of the year 9999; google-adk for Python reads no later times.
pub const MAX_TIMESTAMP: f64 = 253_402_300_799_999.0;

/// Checks that every ADK can hold `timestamp`.
///
/// # Errors
/// Fails with `invalid_argument` naming `argument` for NaN, infinities, and times before 1970 or
/// after 9999.
pub fn check_timestamp(argument: &'static str, timestamp: f64) -> Result<f64, Error> {
    // Negative zero becomes zero: its bits would sort after all positive times.
    if (0.0..=MAX_TIMESTAMP).contains(&timestamp) {
        return Ok(timestamp.abs());
    }
    Err(Error::invalid_number(
        argument,
        "must be a number of milliseconds since 1970, from 0 to 253402300799999 (the year 9999)",
        timestamp,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_of_a_millisecond_are_kept() {
        assert_eq!(check_timestamp("timestamp", 1.5).unwrap(), 1.5);
    }

    #[test]
    fn invalid_timestamps_are_refused() {
        for bad in [f64::NAN, f64::INFINITY, -1.0, MAX_TIMESTAMP + 1.0] {
            assert_eq!(check_timestamp("timestamp", bad).unwrap_err().code(), "invalid_argument");
        }
    }
}
