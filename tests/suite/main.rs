//! The one test binary.
#![allow(missing_docs)]

mod architecture;
