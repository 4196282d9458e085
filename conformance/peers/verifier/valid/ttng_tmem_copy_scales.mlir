// shows: ttng.tmem_copy: scales that lie without swizzle
#smem = #ttg.shared_memory
#tms = #ttng.tensor_memory_scales_encoding<>
#tmem = #ttng.tensor_memory
#x = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %s = ttg.local_alloc : () -> !ttg.memdesc<128x128xi8, #x, #smem, mutable>
    %m = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xi8, #tms, #tmem, mutable>
    ttng.tmem_copy %s, %m : !ttg.memdesc<128x128xi8, #x, #smem, mutable>, !ttg.memdesc<128x128xi8, #tms, #tmem, mutable>
    tt.return
  }
}
