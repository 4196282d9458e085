// rule: nvws.aref.create: the type names the memory
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #nv, #smem, mutable>
    %0 = "nvws.aref.create"(%m) : (!ttg.memdesc<2x64x64xf16, #nv, #smem, mutable>) -> !nvws.aref<[!ttg.memdesc<2x64x64xbf16, #nv, #smem, mutable>]>
    tt.return
  }
}
