// rule: ttng.tc_gen5_mma: a product of two blocks has an accumulator of two
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory
#na = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
#nb = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 1]]}>
#x = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CGALayout = [[1, 0]]>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%t: i1) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<256x64xf16, #na, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #nb, #smem, mutable>
    %d = ttng.tmem_alloc : () -> !ttg.memdesc<256x128xf32, #x, #tmem, mutable>
    ttng.tc_gen5_mma %a, %b, %d, %t, %t {two_ctas} : !ttg.memdesc<256x64xf16, #na, #smem, mutable>, !ttg.memdesc<64x128xf16, #nb, #smem, mutable>, !ttg.memdesc<256x128xf32, #x, #tmem, mutable>
    tt.return
  }
}
