//! Elliptic curves that signatures are checked on where ring does not do it: sums of points, by the textbook.

use super::number::{self, Number};

/// A curve as the standards write it: hexadecimal numbers.
struct Constants {
    id: &'static str,
    name: &'static str,
    prime: &'static str,
    a: &'static str,
    b: &'static str,
    x: &'static str,
    y: &'static str,
    order: &'static str,
}

/// SEC 2, sections 2.4 to 2.9 (FIPS 186-4, appendix D.1.2).
const CURVES: [Constants; 5] = [
    Constants {
        id: "1.3.132.0.33",
        name: "P-224",
        prime: "ffffffffffffffffffffffffffffffff000000000000000000000001",
        a: "fffffffffffffffffffffffffffffffefffffffffffffffffffffffe",
        b: "b4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4",
        x: "b70e0cbd6bb4bf7f321390b94a03c1d356c21122343280d6115c1d21",
        y: "bd376388b5f723fb4c22dfe6cd4375a05a07476444d5819985007e34",
        order: "ffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3d",
    },
    Constants {
        id: "1.2.840.10045.3.1.7",
        name: "P-256",
        prime: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
        a: "ffffffff00000001000000000000000000000000fffffffffffffffffffffffc",
        b: "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
        x: "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
        y: "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
        order: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
    },
    Constants {
        id: "1.3.132.0.34",
        name: "P-384",
        prime: "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff",
        a: "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000fffffffc",
        b: "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef",
        x: "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
        y: "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f",
        order: "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973",
    },
    Constants {
        id: "1.3.132.0.35",
        name: "P-521",
        prime: "1ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        a: "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffc",
        b: "51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
        x: "c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66",
        y: "11839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650",
        order: "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
    },
    Constants {
        id: "1.3.132.0.10",
        name: "secp256k1",
        prime: "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f",
        a: "0",
        b: "7",
        x: "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
        y: "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8",
        order: "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
    },
];

/// The name of the curve with that object identifier.
pub(super) fn name(id: &str) -> Option<&'static str> {
    CURVES.iter().find(|curve| curve.id == id).map(|curve| curve.name)
}

/// `y² = x³ + ax + b` modulo a prime.
pub(super) struct Curve {
    prime: Number,
    a: Number,
    b: Number,
    generator: Point,
    /// How often the generator is added to itself before it vanishes; a prime.
    pub(super) order: Number,
}

/// A point other than that at infinity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Point {
    x: Number,
    y: Number,
}

/// A point in Jacobian coordinates, `(x/z², y/z³)`; `z` of 0 is infinity.
#[derive(Clone, Debug)]
struct Projective {
    x: Number,
    y: Number,
    z: Number,
}

impl Curve {
    /// The curve with that object identifier, if it is known.
    pub(super) fn named(id: &str) -> Option<Self> {
        let known = CURVES.iter().find(|curve| curve.id == id)?;
        let generator = Point { x: number::hex(known.x), y: number::hex(known.y) };
        Some(Self {
            prime: number::hex(known.prime),
            a: number::hex(known.a),
            b: number::hex(known.b),
            generator,
            order: number::hex(known.order),
        })
    }

    /// Reads a point that is on the curve, uncompressed or compressed (SEC 1, section 2.3.4).
    pub(super) fn read_point(&self, bytes: &[u8]) -> Option<Point> {
        let (form, rest) = bytes.split_first()?;
        let size = usize::try_from(self.prime.bits().div_ceil(8)).ok()?;
        let point = match (form, rest.len()) {
            (4, length) if length == 2 * size => {
                let (x, y) = rest.split_at(size);
                Point { x: number::read(x), y: number::read(y) }
            }
            (2 | 3, length) if length == size => self.decompressed(number::read(rest), form & 1)?,
            _ => return None,
        };
        let is_reduced = point.x < self.prime && point.y < self.prime;
        let left = &point.y * &point.y % &self.prime;
        (is_reduced && left == self.right_side(&point.x)).then_some(point)
    }

    fn right_side(&self, x: &Number) -> Number {
        (x * x % &self.prime * x + &self.a * x + &self.b) % &self.prime
    }

    /// The point with that `x` whose `y` is odd or even; for primes that leave 3 when divided by 4.
    fn decompressed(&self, x: Number, parity: u8) -> Option<Point> {
        if &self.prime % 4u32 != Number::from(3u32) {
            return None;
        }
        let root = self.right_side(&x).modpow(&((&self.prime + 1u32) / 4u32), &self.prime);
        let y = if root.bit(0) == (parity == 1) { root } else { &self.prime - root };
        Some(Point { x, y })
    }

    /// The `x` of `u` times the generator and `v` times `point`, together; `None` at infinity.
    pub(super) fn sum_of_multiples(&self, u: &Number, point: &Point, v: &Number) -> Option<Number> {
        let (first, second) = (lifted(&self.generator), lifted(point));
        let both = self.add(&first, &second);
        let mut sum = Projective { x: Number::from(1u32), y: Number::from(1u32), z: Number::ZERO };
        for bit in (0..u.bits().max(v.bits())).rev() {
            sum = self.double(&sum);
            match (u.bit(bit), v.bit(bit)) {
                (true, true) => sum = self.add(&sum, &both),
                (true, false) => sum = self.add(&sum, &first),
                (false, true) => sum = self.add(&sum, &second),
                (false, false) => {}
            }
        }
        let inverse = number::inverse(&sum.z, &self.prime)?;
        Some(sum.x * (&inverse * &inverse % &self.prime) % &self.prime)
    }

    fn minus(&self, from: &Number, what: &Number) -> Number {
        (from + &self.prime - what % &self.prime) % &self.prime
    }

    fn double(&self, point: &Projective) -> Projective {
        let p = &self.prime;
        let yy = &point.y * &point.y % p;
        let s = &point.x * &yy * 4u32 % p;
        let zz = &point.z * &point.z % p;
        let m = (&point.x * &point.x * 3u32 + &self.a * (&zz * &zz % p)) % p;
        let x = self.minus(&(&m * &m % p), &(&s * 2u32));
        let y = self.minus(&(m * self.minus(&s, &x) % p), &(&yy * &yy * 8u32));
        let z = &point.y * &point.z * 2u32 % p;
        Projective { x, y, z }
    }

    fn add(&self, one: &Projective, two: &Projective) -> Projective {
        let p = &self.prime;
        if one.z == Number::ZERO {
            return two.clone();
        }
        if two.z == Number::ZERO {
            return one.clone();
        }
        let (zz1, zz2) = (&one.z * &one.z % p, &two.z * &two.z % p);
        let (u1, u2) = (&one.x * &zz2 % p, &two.x * &zz1 % p);
        let (s1, s2) = (&one.y * &zz2 % p * &two.z % p, &two.y * &zz1 % p * &one.z % p);
        if u1 == u2 {
            let infinity = Projective { z: Number::ZERO, ..one.clone() };
            return if s1 == s2 { self.double(one) } else { infinity };
        }
        let (h, r) = (self.minus(&u2, &u1), self.minus(&s2, &s1));
        let hh = &h * &h % p;
        let (hhh, v) = (&h * &hh % p, u1 * &hh % p);
        let x = self.minus(&self.minus(&(&r * &r % p), &hhh), &(&v * 2u32));
        let y = self.minus(&(r * self.minus(&v, &x) % p), &(s1 * hhh));
        let z = &one.z * &two.z % p * h % p;
        Projective { x, y, z }
    }
}

fn lifted(point: &Point) -> Projective {
    Projective { x: point.x.clone(), y: point.y.clone(), z: Number::from(1u32) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_are_on_their_curves_and_vanish_after_their_order() {
        for constants in &CURVES {
            let curve = Curve::named(constants.id).unwrap();
            let generator = curve.generator.clone();
            let left = &generator.y * &generator.y % &curve.prime;
            assert_eq!(left, curve.right_side(&generator.x), "{}", constants.name);
            let nothing = curve.sum_of_multiples(&curve.order, &generator, &Number::ZERO);
            assert_eq!(nothing, None, "{}", constants.name);
            // (order - 1) times the generator is its mirror, which has the same x.
            let mirror = curve.sum_of_multiples(&(&curve.order - 1u32), &generator, &Number::ZERO);
            assert_eq!(mirror.as_ref(), Some(&generator.x), "{}", constants.name);
            let twice =
                curve.sum_of_multiples(&Number::from(1u32), &generator, &Number::from(1u32));
            let doubled = curve.sum_of_multiples(&Number::from(2u32), &generator, &Number::ZERO);
            assert_eq!(twice, doubled, "{}", constants.name);
        }
    }
}
