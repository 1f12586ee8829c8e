//! The one test binary.
#![allow(missing_docs)]

mod architecture;
mod support;
mod tables;
