//! Text edits on byte ranges; knows nothing of YAML.
