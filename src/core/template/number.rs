//! Prints numbers as JavaScript does: Rust's `1.0` and `1e21` are JavaScript's `1` and `1e+21`.
//!
//! The digits are only rearranged, not parsed as a float. Every writer of JSON gives the shortest
//! digits already. So large integers lose no digit, and the wasm needs no code for floats.

/// Numbers with more digits than this before the decimal point are printed with an exponent.
const WHOLE_DIGITS: i32 = 21;
/// So are numbers with more zeros than this after the decimal point.
const LEADING_ZEROS: i32 = 5;

/// Whether JSON and JavaScript print the number alike, as nearly all numbers.
pub(super) fn is_plain(number: &str) -> bool {
    number.len() <= WHOLE_DIGITS as usize && !number.contains(['.', 'e', 'E']) && number != "-0"
}

/// Prints a JSON number. Prints any other text unchanged.
pub(super) fn push(out: &mut String, number: &str) {
    if lay_out(out, number).is_none() {
        out.push_str(number);
    }
}

/// Prints a number in the layout of ECMAScript's `Number::toString`. Writes nothing if the text is
/// no number.
fn lay_out(out: &mut String, number: &str) -> Option<()> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let magnitude = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let (whole, fraction) = magnitude.split_once('.').unwrap_or((magnitude, ""));
    let all = [whole, fraction].concat();
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let significant = all.trim_start_matches('0');
    let stripped = i32::try_from(all.len() - significant.len()).ok()?;
    let digits = significant.trim_end_matches('0');
    // The value is 0.DIGITS times 10 to the power of `point`.
    let point = i32::try_from(whole.len()).ok()?.checked_sub(stripped)?;
    let point = point.checked_add(exponent.parse().ok()?)?;
    if digits.is_empty() {
        out.push('0');
        return Some(());
    }
    if mantissa.len() > magnitude.len() {
        out.push('-');
    }
    let zeros = |out: &mut String, count: usize| out.extend((0..count).map(|_| '0'));
    if (1..=WHOLE_DIGITS).contains(&point) {
        let before = usize::try_from(point).ok()?;
        let (whole, fraction) = digits.split_at_checked(before).unwrap_or((digits, ""));
        out.push_str(whole);
        zeros(out, before - whole.len());
        push_fraction(out, fraction);
    } else if (-LEADING_ZEROS..=0).contains(&point) {
        out.push_str("0.");
        zeros(out, usize::try_from(-point).ok()?);
        out.push_str(digits);
    } else {
        let (first, fraction) = digits.split_at_checked(1)?;
        out.push_str(first);
        push_fraction(out, fraction);
        out.push_str(if point > 0 { "e+" } else { "e" });
        out.push_str(&(i64::from(point) - 1).to_string());
    }
    Some(())
}

fn push_fraction(out: &mut String, digits: &str) {
    if !digits.is_empty() {
        out.push('.');
        out.push_str(digits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(number: &str) -> String {
        let mut out = String::new();
        push(&mut out, number);
        out
    }

    #[test]
    fn numbers_are_printed_as_in_javascript() {
        for (json, expected) in [
            ("0", "0"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("0e5", "0"),
            ("42", "42"),
            ("-7", "-7"),
            ("1.0", "1"),
            ("-1.50", "-1.5"),
            ("100.0", "100"),
            ("1e2", "100"),
            ("12.5E+1", "125"),
            ("1e20", "100000000000000000000"),
            ("1.2345e20", "123450000000000000000"),
            ("1e21", "1e+21"),
            ("1000000000000000000000", "1e+21"),
            ("-1.25E22", "-1.25e+22"),
            ("123456789012345680000", "123456789012345680000"),
            ("18446744073709551615", "18446744073709551615"),
            ("0.000001", "0.000001"),
            ("1e-6", "0.000001"),
            ("0.0000001", "1e-7"),
            ("1.5e-7", "1.5e-7"),
            ("0.1", "0.1"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ] {
            assert_eq!(printed(json), expected, "{json}");
        }
    }

    #[test]
    fn malformed_numbers_are_printed_unchanged() {
        for odd in ["-", ".", "1e", "1e+", "1.2.3", "--1.0", "1e99999999999", "1e2147483647", "e1"]
        {
            assert_eq!(printed(odd), odd);
        }
    }
}
