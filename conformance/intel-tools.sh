#!/bin/sh
# Installs what shows Intel code at a higher level than SPIR-V that is valid, on Debian 12 and its like:
#
#   ocloc       Intel's offline compiler: machine code of what the plugin writes, for `pvc` and `dg2`. Where
#               TILEWRIGHT_OCLOC names it, the plugin has it take every object, and conformance says so.
#   spirv-val   the validator of the standard.
#   iga64       its library disassembles, so that tests see `dpas` in the machine code.
#
# Needs root for the packages. Afterwards:
#
#   TILEWRIGHT_OCLOC=ocloc conformance --target max1550 dot/code/plain
#   cargo test --release -p tilewright-intel
set -eu

apt-get install --yes --no-install-recommends intel-opencl-icd libigc-tools spirv-tools

# `ocloc disasm` opens the library by its name without a version, which the packages do not have.
library=$(ldconfig -p | sed -n 's/.*libiga64\.so\.1 .*=> //p' | head -n 1)
if [ -n "$library" ]; then
    ln -sf "$library" "$(dirname "$library")/libiga64.so"
fi

command -v ocloc spirv-val
