//! Starting other programs: no shell, bounded time, scrubbed output.
