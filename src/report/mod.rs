//! Results as data, and their human and JSON forms.
