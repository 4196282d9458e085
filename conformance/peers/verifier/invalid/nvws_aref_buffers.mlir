// rule: nvws.aref.create: tensors have one number of buffers
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: !ttg.memdesc<2x32x64xf16, #n, #smem>, %b: !ttg.memdesc<3x64x16xf16, #n, #smem>) {
    %r = nvws.aref.create %a, %b : !nvws.aref<[!ttg.memdesc<2x32x64xf16, #n, #smem>, !ttg.memdesc<3x64x16xf16, #n, #smem>]>
    tt.return
  }
}
