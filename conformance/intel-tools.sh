#!/bin/sh
# Installs what shows Intel code at a higher level than SPIR-V that is valid, on Debian 12 and its like:
#
#   ocloc       Intel's offline compiler: machine code of what the plugin writes, for `pvc` and `dg2`. Where
#               TILEWRIGHT_OCLOC names it, the plugin has it take every object, and conformance says so.
#   spirv-val   the validator of the standard.
#   iga64       its library disassembles, so that tests see `dpas` in the machine code.
#   the CPU runtime
#               Intel's OpenCL runtime for processors, of any maker: runs the SPIR-V, so that results are compared
#               without a GPU.
#
#   conformance/intel-tools.sh [DIRECTORY]
#
# Needs root for the packages, and `python3` with `venv`. The runtime (400 MB) goes to DIRECTORY, `intel-tools` in the
# home directory where none is given. What to export is printed last. Afterwards:
#
#   TILEWRIGHT_OCLOC=ocloc conformance --target max1550 dot/code/plain
#   conformance --target max1550 dot/device
#   cargo test --release -p tilewright-intel
set -eu

apt-get install --yes --no-install-recommends \
    clinfo intel-opencl-icd libigc-tools ocl-icd-libopencl1 python3-venv spirv-tools

# `ocloc disasm` opens the library by its name without a version, which the packages do not have.
library=$(ldconfig -p | sed -n 's/.*libiga64\.so\.1 .*=> //p' | head -n 1)
if [ -n "$library" ]; then
    ln -sf "$library" "$(dirname "$library")/libiga64.so"
fi

directory=${1:-$HOME/intel-tools}
python3 -m venv "$directory"
directory=$(cd "$directory" && pwd)
# The first does not ask for the second, whose mathematical functions it opens.
"$directory/bin/pip" install --quiet intel-opencl-rt intel-cmplr-lib-rt

# The list of drivers that the first brings has a path in it that is nobody's.
mkdir -p "$directory/vendors"
echo "$directory/lib/libintelocl.so" > "$directory/vendors/intel-cpu.icd"

command -v ocloc spirv-val
OCL_ICD_VENDORS="$directory/vendors" clinfo --list
echo "so that programs find the processor as a device: export OCL_ICD_VENDORS=$directory/vendors"
