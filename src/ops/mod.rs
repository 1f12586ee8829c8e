//! Use cases: one file a command; joins the pure logic and the adapters.
