//! Verdicts about certificates, judged by openssl itself.

mod command;
mod handshake;
mod hosts;
mod pki;
mod random;
mod rows;
