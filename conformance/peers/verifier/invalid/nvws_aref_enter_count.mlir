// rule: nvws.aref.put.enter: a buffer of each tensor
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: !ttg.memdesc<2x32x64xf16, #n, #smem>, %b: !ttg.memdesc<2x64x16xf16, #n, #smem>) {
    %r = nvws.aref.create %a, %b : !nvws.aref<[!ttg.memdesc<2x32x64xf16, #n, #smem>, !ttg.memdesc<2x64x16xf16, #n, #smem>]>
    %c = arith.constant 0 : i32
    %o:2 = nvws.aref.put.enter %r[%c, %c] : !nvws.aref<[!ttg.memdesc<2x32x64xf16, #n, #smem>, !ttg.memdesc<2x64x16xf16, #n, #smem>]> -> !ttg.memdesc<32x64xf16, #n, #smem>, !ttg.async.token
    tt.return
  }
}
