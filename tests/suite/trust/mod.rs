//! Verdicts about certificates, judged by openssl itself.

mod command;
mod pki;
mod random;
mod rows;
