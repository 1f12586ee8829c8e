//! Kubernetes quantities (`100m`, `1.5`, `128Mi`, `1e3`) as numbers.
//!
//! Source: k8s.io/apimachinery `api/resource/quantity.go`.

/// The number that `text` stands for, in the unit's base (cores, bytes).
#[must_use]
pub fn parse_quantity(text: &str) -> Option<f64> {
    let split =
        text.find(|c: char| !matches!(c, '0'..='9' | '.' | '+' | '-')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(split);
    let number: f64 = number.parse().ok()?;
    // Division by a power of ten is exact where multiplication by its inverse is not.
    match suffix {
        "m" => Some(number / 1e3),
        "u" => Some(number / 1e6),
        "n" => Some(number / 1e9),
        _ => Some(number * factor(suffix)?),
    }
}

fn factor(suffix: &str) -> Option<f64> {
    let binary = |power: i32| Some(1024f64.powi(power));
    let decimal = |power: i32| Some(10f64.powi(power));
    match suffix {
        "" => Some(1.0),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => exponent(suffix),
    }
}

fn exponent(suffix: &str) -> Option<f64> {
    let power: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    (power.abs() <= 30).then(|| 10f64.powi(power))
}

#[cfg(test)]
mod tests {
    use super::parse_quantity;

    #[test]
    fn suffixes_scale_the_number() {
        for (text, value) in [
            ("2", 2.0),
            ("1.5", 1.5),
            ("250m", 0.25),
            ("1900m", 1.9),
            ("1Ki", 1024.0),
            ("2G", 2e9),
            ("1e3", 1e3),
        ] {
            assert_eq!(parse_quantity(text), Some(value), "{text}");
        }
        for text in ["", "m", "1x", "1Kii", "one"] {
            assert_eq!(parse_quantity(text), None, "{text}");
        }
    }
}
