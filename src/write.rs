//! Writing files: atomic, all or nothing.
