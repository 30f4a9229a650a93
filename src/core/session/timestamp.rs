//! Points in time.

use std::cmp::Ordering;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::core::error::{Error, Field};
use crate::host;

/// The last millisecond of the year 9999; google-adk for Python reads no later times.
const LAST: f64 = 253_402_300_799_999.0;

/// A point in time: milliseconds since 1970, from 0 to 253402300799999 (the year 9999). Every ADK
/// can hold it. Fractions of a millisecond are kept.
///
/// Its JSON is the number of milliseconds, as JavaScript writes it.
///
/// ```
/// use adk_session::{Event, Timestamp};
/// let mut event = Event::new("invocation-1");
/// assert!(event.timestamp <= Timestamp::now());
/// event.timestamp = Timestamp::from_millis(1_795_155_122_530.0)?;
/// assert_eq!(event.timestamp.to_string(), "1795155122530");
/// assert_eq!(Timestamp::from_millis(-1.0).unwrap_err().code(), "invalid_argument");
/// # Ok::<(), adk_session::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Timestamp(f64);

impl Timestamp {
    /// The first point in time: the start of 1970.
    pub const MIN: Self = Self(0.0);
    /// The last point in time: the end of the year 9999.
    pub const MAX: Self = Self(LAST);

    /// Makes the point in time that is so many milliseconds after the start of 1970.
    ///
    /// # Errors
    /// Fails with `invalid_argument` for NaN, infinities, and times before 1970 or after 9999.
    pub fn from_millis(milliseconds: f64) -> Result<Self, Error> {
        let rule = "must be a number of milliseconds since 1970, from 0 to 253402300799999 (the year 9999)";
        Self::valid(milliseconds).ok_or_else(|| Error::invalid(Field::Timestamp, rule))
    }

    /// The same; `None` if the number is not valid.
    #[doc(hidden)]
    pub fn valid(milliseconds: f64) -> Option<Self> {
        (0.0..=LAST).contains(&milliseconds).then(|| Self::stored(milliseconds))
    }

    /// The time of a stored row, which was checked already.
    #[doc(hidden)]
    pub fn stored(milliseconds: f64) -> Self {
        // Negative zero becomes zero: its bits would sort after all other times.
        Self(milliseconds.abs())
    }

    /// Returns the current time, or the start of 1970 if the host's clock shows no valid time.
    pub fn now() -> Self {
        Self::valid(host::now()).unwrap_or_default()
    }

    /// Returns the milliseconds since 1970.
    pub fn as_millis(self) -> f64 {
        self.0
    }
}

/// A time before 1970 becomes its start, and one after 9999 its end. No ADK could hold it.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use adk_session::Timestamp;
/// let time = SystemTime::UNIX_EPOCH + Duration::from_micros(1_500);
/// assert_eq!(Timestamp::from(time).as_millis(), 1.5);
/// let early = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
/// assert_eq!(Timestamp::from(early), Timestamp::MIN);
/// ```
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let milliseconds = since.as_secs() as f64 * 1e3 + f64::from(since.subsec_nanos()) / 1e6;
        Self(milliseconds.min(LAST))
    }
}

/// ```
/// use std::time::SystemTime;
/// use adk_session::Timestamp;
/// let time = Timestamp::from_millis(1_795_155_122_530.5)?;
/// assert_eq!(Timestamp::from(SystemTime::from(time)), time);
/// # Ok::<(), adk_session::Error>(())
/// ```
impl From<Timestamp> for SystemTime {
    fn from(Timestamp(milliseconds): Timestamp) -> Self {
        let nanoseconds = (milliseconds.fract() * 1e6).round() as u64;
        UNIX_EPOCH + Duration::from_millis(milliseconds as u64) + Duration::from_nanos(nanoseconds)
    }
}

// A timestamp is never NaN.
impl Eq for Timestamp {}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        // Timestamps are never negative, so their bits have the same order, at less code.
        self.0.to_bits().cmp(&other.0.to_bits())
    }
}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Whole numbers have no fraction, as in JavaScript.
        if self.0.fract() == 0.0 {
            serializer.serialize_u64(self.0 as u64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_millis(f64::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_of_a_millisecond_are_kept() {
        let time = Timestamp::from_millis(1.5).unwrap();
        assert_eq!(time.as_millis(), 1.5);
        assert_eq!(serde_json::to_string(&time).unwrap(), "1.5");
    }

    #[test]
    fn invalid_times_are_refused() {
        for bad in [f64::NAN, f64::INFINITY, -1.0, LAST + 1.0] {
            let error = Timestamp::from_millis(bad).unwrap_err();
            assert_eq!(error.code(), "invalid_argument");
        }
        for bad in ["-1", "1e300", "null", "\"1\""] {
            assert!(serde_json::from_str::<Timestamp>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn whole_times_are_written_as_javascript_does() {
        let times = [Timestamp::from_millis(-0.0).unwrap(), Timestamp::MAX];
        assert_eq!(serde_json::to_string(&times).unwrap(), "[0,253402300799999]");
    }
}
