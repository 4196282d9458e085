// rule: !ttg.memdesc: scales in tensor memory have two axes
#tms = #ttng.tensor_memory_scales_encoding<>
#tmem = #ttng.tensor_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttng.tmem_alloc : () -> !ttg.memdesc<2x128x4xi8, #tms, #tmem, mutable>
    tt.return
  }
}
