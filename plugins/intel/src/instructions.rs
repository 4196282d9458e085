//! Instruction rows of this vendor.
