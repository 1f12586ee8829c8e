//! Do clients trust a server? Certificates in, verdicts out.
//!
//! Two verdicts stand side by side, because workloads differ: that of `openssl verify` ([`chain`]), and that of clients
//! on rustls ([`clients`]). What neither looks at, or only one of them, are findings of their own ([`findings`]).
//! Must not know files, sockets, clusters or the clock: texts and the present time are given.

pub mod certificate;
pub mod chain;
pub mod clients;
mod constraints;
mod curve;
pub mod findings;
mod keys;
mod name;
mod number;
mod pem;
pub mod rotation;
mod signature;

pub use certificate::Certificate;
pub use chain::{Problem, Reason, Verdict};
pub use clients::ClientVerdict;
pub use findings::{Days, Finding, Judgement, Question, Severity, days_left, judge};
pub use keys::KeyMatch;
pub use pem::{Bundle, read_certificates};
