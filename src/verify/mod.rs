//! The judge: what an edit did to the rendered resources, compared with what was asked for.
