//! Image references and digests in the words of the OCI distribution specification.
