//! The shared library of the intel plugin: exports the entry symbol and nothing else.

tilewright_plugin::export_plugin!(tilewright_intel);
