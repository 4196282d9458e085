//! The shared library of the nvidia plugin: exports the entry symbol and nothing else.

tilewright_plugin::export_plugin!(tilewright_nvidia);
