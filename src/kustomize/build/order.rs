//! The order of the output.
