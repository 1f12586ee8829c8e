//! The intent: what the user wants, as data.
