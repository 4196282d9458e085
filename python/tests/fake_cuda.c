// A CUDA driver without a GPU, with the functions that Triton's launcher calls: it executes nothing, and appends a line of JSON
// for each launch to the file that FAKE_CUDA_LOG names. The device is a GPU of compute capability 9.0.
#include <cuda.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMETERS = 64, MOST_KERNELS = 64 };

// A loaded kernel: what the driver reads from its cubin.
typedef struct {
  char name[256];
  int parameters, registers;
  uint16_t sizes[MOST_PARAMETERS];
} Kernel;

static Kernel kernels[MOST_KERNELS];
static int loaded;

// The context and the module are only handles.
static CUcontext context;

// Reads the attributes of a section `.nv.info`: a format, an attribute, a size, and a value.
static void read_attributes(Kernel *kernel, const uint8_t *at, const uint8_t *end) {
  while (at + 4 <= end) {
    uint16_t size = at[2] | at[3] << 8;
    if (at[0] != 4) { // the value is in the place of the size
      at += 4;
      continue;
    }
    if (at[1] == 0x17) { // a parameter: index, ordinal, offset, and a word with the size in bits 18 and up
      uint16_t ordinal = at[8] | at[9] << 8;
      uint32_t word;
      memcpy(&word, at + 12, 4);
      if (ordinal < MOST_PARAMETERS) {
        kernel->sizes[ordinal] = word >> 18;
        kernel->parameters = ordinal + 1 > kernel->parameters ? ordinal + 1 : kernel->parameters;
      }
    } else if (at[1] == 0x2f) { // registers of a function
      uint32_t registers;
      memcpy(&registers, at + 8, 4);
      kernel->registers = (int)registers > kernel->registers ? (int)registers : kernel->registers;
    }
    at += 4 + size;
  }
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  const Elf64_Ehdr *header = image;
  const Elf64_Shdr *sections = (const void *)((const char *)image + header->e_shoff);
  const char *names = (const char *)image + sections[header->e_shstrndx].sh_offset;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) || loaded == MOST_KERNELS)
    return CUDA_ERROR_INVALID_IMAGE;
  Kernel *kernel = &kernels[loaded++];
  for (int index = 0; index < header->e_shnum; index++) {
    const uint8_t *bytes = (const uint8_t *)image + sections[index].sh_offset;
    if (!strncmp(names + sections[index].sh_name, ".nv.info", 8))
      read_attributes(kernel, bytes, bytes + sections[index].sh_size);
  }
  *module = (CUmodule)kernel;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  snprintf(((Kernel *)module)->name, sizeof(kernels->name), "%s", name);
  *function = (CUfunction)module;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS                ? ((Kernel *)function)->registers
           : attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
                                                                  : 0;
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
  const Kernel *kernel = (const Kernel *)function;
  FILE *log = fopen(getenv("FAKE_CUDA_LOG"), "a");
  if (!log)
    return CUDA_ERROR_UNKNOWN;
  unsigned cluster = 1;
  for (unsigned index = 0; index < config->numAttrs; index++)
    if (config->attrs[index].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      cluster = config->attrs[index].value.clusterDim.x;
  fprintf(log, "{\"kernel\": \"%s\", \"grid\": [%u, %u, %u], \"threads\": %u, \"shared\": %u, \"cluster\": %u, ", kernel->name,
          config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX, config->sharedMemBytes, cluster);
  fprintf(log, "\"registers\": %d, \"parameters\": [", kernel->registers);
  for (int index = 0; index < kernel->parameters; index++) {
    uint64_t value = 0;
    memcpy(&value, parameters[index], kernel->sizes[index] < 8 ? kernel->sizes[index] : 8);
    fprintf(log, "%s[%u, %llu]", index ? ", " : "", kernel->sizes[index], (unsigned long long)value);
  }
  fprintf(log, "]}\n");
  fclose(log);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = 0; break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 227 * 1024; break;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; break;
  default: *value = 64;
  }
  return CUDA_SUCCESS;
}

CUresult cuInit(unsigned flags) { return CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int *count) { return *count = 1, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRetain(CUcontext *made, CUdevice device) { return *made = (CUcontext)&kernels, CUDA_SUCCESS; }
CUresult cuCtxGetCurrent(CUcontext *current) { return *current = context, CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext next) { return context = next, CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice *device) { return *device = 0, CUDA_SUCCESS; }
CUresult cuCtxGetLimit(size_t *value, CUlimit limit) { return *value = 0, CUDA_SUCCESS; }
CUresult cuCtxSetLimit(CUlimit limit, size_t value) { return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int *version) { return *version = 12080, CUDA_SUCCESS; }
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) { return CUDA_SUCCESS; }
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) { return CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult error, const char **text) { return *text = "an error", CUDA_SUCCESS; }
CUresult cuModuleUnload(CUmodule module) { return CUDA_SUCCESS; }
CUresult cuOccupancyMaxActiveClusters(int *count, CUfunction function, const CUlaunchConfig *config) {
  return *count = 1, CUDA_SUCCESS;
}
CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return *(CUdeviceptr *)data = pointer, CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  return *status = CU_STREAM_CAPTURE_STATUS_NONE, CUDA_SUCCESS;
}
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return CUDA_SUCCESS;
}
CUresult cuTensorMapEncodeIm2col(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                 const cuuint64_t *sizes, const cuuint64_t *strides, const int *lower, const int *upper,
                                 cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return CUDA_SUCCESS;
}
