//! Time and sleep: the only place that reads a clock, so that everything else can be run again with the same result.
