//! The shared library of the amd plugin: exports the entry symbol and nothing else.

tilewright::export_plugin!(tilewright_amd);
