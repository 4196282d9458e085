//! The shared library of the nvidia plugin: exports the entry symbol and nothing else.

tilewright::export_plugin!(tilewright_nvidia);
