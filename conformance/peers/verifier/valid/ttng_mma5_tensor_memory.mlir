// shows: ttng.tc_gen5_mma: the first operand in tensor memory
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem = #ttng.tensor_memory
#x = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%t: i1) {
    %a = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf16, #x, #tmem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #nv, #smem, mutable>
    %d = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    ttng.tc_gen5_mma %a, %b, %d, %t, %t : !ttg.memdesc<128x64xf16, #x, #tmem, mutable>, !ttg.memdesc<64x128xf16, #nv, #smem, mutable>, !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    tt.return
  }
}
