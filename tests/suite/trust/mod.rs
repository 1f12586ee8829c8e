//! Verdicts about certificates, judged by openssl itself.

mod command;
mod handshake;
mod pki;
mod random;
mod rows;
