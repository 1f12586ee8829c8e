//! Large numbers, as signatures have them.

use x509_parser::der_parser::num_bigint::BigUint;

/// A natural number of any size.
pub(super) type Number = BigUint;

/// Reads bytes, most significant first.
pub(super) fn read(bytes: &[u8]) -> Number {
    Number::from_bytes_be(bytes)
}

/// Reads hexadecimal digits.
pub(super) fn hex(digits: &str) -> Number {
    Number::parse_bytes(digits.as_bytes(), 16).unwrap_or(Number::ZERO)
}

/// Its bytes, most significant first, no more than needed.
pub(super) fn bytes(number: &Number) -> Vec<u8> {
    number.to_bytes_be()
}

/// The inverse modulo a prime, by Fermat.
pub(super) fn inverse(number: &Number, prime: &Number) -> Option<Number> {
    let reduced = number % prime;
    (reduced > Number::ZERO).then(|| reduced.modpow(&(prime - 2u32), prime))
}

/// The two numbers of `SEQUENCE { INTEGER, INTEGER }` in DER, as ECDSA signatures are.
pub(super) fn read_pair(der: &[u8]) -> Option<(Number, Number)> {
    let (inner, rest) = value(der, 0x30)?;
    let (first, after) = value(inner, 2)?;
    let (second, end) = value(after, 2)?;
    let is_natural = |bytes: &[u8]| match bytes {
        [] => false,
        [0, next, ..] => next & 0x80 != 0,
        [first, ..] => first & 0x80 == 0,
    };
    let is_whole = rest.is_empty() && end.is_empty();
    (is_whole && is_natural(first) && is_natural(second)).then(|| (read(first), read(second)))
}

/// The content of the DER value with that tag at the start, and what follows; of less than 256 bytes.
fn value(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (length, content) = match der {
        [first, length @ 0..=0x7f, content @ ..] if *first == tag => {
            (usize::from(*length), content)
        }
        [first, 0x81, length @ 0x80..=0xff, content @ ..] if *first == tag => {
            (usize::from(*length), content)
        }
        _ => return None,
    };
    content.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_strictly() {
        let pair = |der: &[u8]| read_pair(der).map(|(a, b)| (a.to_string(), b.to_string()));
        assert_eq!(pair(&[0x30, 6, 2, 1, 5, 2, 1, 7]), Some(("5".to_owned(), "7".to_owned())));
        assert_eq!(
            pair(&[0x30, 7, 2, 2, 0, 200, 2, 1, 7]),
            Some(("200".to_owned(), "7".to_owned()))
        );
        // Negative, padded, cut short, more behind.
        for wrong in [
            &[0x30, 6, 2, 1, 200, 2, 1, 7][..],
            &[0x30, 7, 2, 2, 0, 5, 2, 1, 7],
            &[0x30, 6, 2, 1, 5, 2, 1],
            &[0x30, 6, 2, 1, 5, 2, 1, 7, 0],
            &[],
        ] {
            assert_eq!(pair(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn an_inverse_times_its_number_is_one() {
        let prime = Number::from(1_000_003u32);
        for number in [1u32, 2, 17, 999_999] {
            let number = Number::from(number);
            let product = inverse(&number, &prime).unwrap() * number % &prime;
            assert_eq!(product, Number::from(1u32));
        }
        assert!(inverse(&prime, &prime).is_none());
    }
}
