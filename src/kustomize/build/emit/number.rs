//! Numbers as Go prints them.

use std::fmt::Write as _;

/// Writes an integer.
pub(super) fn write_integer(out: &mut String, int: i128) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{int}");
}

/// Writes a float: as Go's JSON does, read again by go-yaml version 2 and printed by it. A float
/// without a fraction comes back as an integer where it fits 64 bits.
pub(super) fn write_float(out: &mut String, float: f64) {
    let json = json_float(float);
    let integer = json.parse::<i128>().ok();
    match integer {
        Some(int) if int >= i128::from(i64::MIN) && int <= i128::from(u64::MAX) => {
            write_integer(out, int);
        }
        _ => out.push_str(&format_g(float)),
    }
}

/// A float as Go's `encoding/json` writes it: without an exponent from 1e-6 up to 1e21.
pub(crate) fn json_float(float: f64) -> String {
    let magnitude = float.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        exponent_form(float, 1)
    } else {
        format!("{float}")
    }
}

/// Go's `strconv.FormatFloat(float, 'g', -1, 64)`: with an exponent below -4 and from 6 on.
pub(crate) fn format_g(float: f64) -> String {
    let scientific = format!("{float:e}");
    let exponent = scientific.split_once('e').and_then(|(_, text)| text.parse::<i32>().ok());
    if exponent.is_some_and(|exponent| (-4..6).contains(&exponent)) {
        format!("{float}")
    } else {
        exponent_form(float, 2)
    }
}

/// `d.ddde±xx` with at least `digits` digits of the exponent.
fn exponent_form(float: f64, digits: usize) -> String {
    let text = format!("{float:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, magnitude) = match exponent.strip_prefix('-') {
        Some(magnitude) => ('-', magnitude),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{magnitude:0>digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by kustomize 5.8.1 for an annotation-free custom resource.
    #[test]
    fn floats_are_printed_as_kustomize_prints_them() {
        let print = |float: f64| {
            let mut out = String::new();
            write_float(&mut out, float);
            out
        };
        assert_eq!(print(1.0), "1");
        assert_eq!(print(1.10), "1.1");
        assert_eq!(print(1_234_567.5), "1.2345675e+06");
        assert_eq!(print(100_000.5), "100000.5");
        assert_eq!(print(0.0001), "0.0001");
        assert_eq!(print(0.00001), "1e-05");
        assert_eq!(print(1e19), "10000000000000000000");
        assert_eq!(print(1e20), "1e+20");
        assert_eq!(print(-0.0), "0");
        assert_eq!(print(1e300), "1e+300");
    }
}
