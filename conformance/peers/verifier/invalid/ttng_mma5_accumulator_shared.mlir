// rule: ttng.tc_gen5_mma: the accumulator lies in tensor memory
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#nv32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%t: i1) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #nv, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #nv, #smem, mutable>
    %d = ttg.local_alloc : () -> !ttg.memdesc<128x128xf32, #nv32, #smem, mutable>
    ttng.tc_gen5_mma %a, %b, %d, %t, %t : !ttg.memdesc<128x64xf16, #nv, #smem, mutable>, !ttg.memdesc<64x128xf16, #nv, #smem, mutable>, !ttg.memdesc<128x128xf32, #nv32, #smem, mutable>
    tt.return
  }
}
