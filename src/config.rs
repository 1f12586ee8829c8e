//! Settings: environment, `.overlay.yaml` and defaults, in that order below the flags. The only reader of the environment.
