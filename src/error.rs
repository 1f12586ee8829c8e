//! Errors as users meet them: a stable code, an exit status, one sentence, a location and hints.
