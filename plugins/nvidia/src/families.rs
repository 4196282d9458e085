//! Layout families of this vendor.
