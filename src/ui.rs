//! The terminal: the only place that prints.
