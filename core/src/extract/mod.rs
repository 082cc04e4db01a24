//! From the bytes of a page to an article whose every field says where it came from.
