//! Suggestions: the nearest of several names.
