// rule: ttng.tc_gen5_commit: four descriptors at most
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %r = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #v1, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #nv, #smem, mutable>
    ttng.tc_gen5_commit %r descs %m, %m, %m, %m, %m : !ttg.memdesc<1xi64, #v1, #smem, mutable>, !ttg.memdesc<128x64xf16, #nv, #smem, mutable>, !ttg.memdesc<128x64xf16, #nv, #smem, mutable>, !ttg.memdesc<128x64xf16, #nv, #smem, mutable>, !ttg.memdesc<128x64xf16, #nv, #smem, mutable>, !ttg.memdesc<128x64xf16, #nv, #smem, mutable>
    tt.return
  }
}
