//! Translates kernel IR to LLVM.
