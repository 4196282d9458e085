//! The target files of this folder, carried in the library.
