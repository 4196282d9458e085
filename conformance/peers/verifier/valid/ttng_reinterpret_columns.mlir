// shows: ttg.memdesc_reinterpret: two halves of a column as one word
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#h = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>
#sc = #ttng.tensor_memory_scales_encoding<>
#tm = #ttng.tensor_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%m: !ttg.memdesc<128x64xf16, #t, #tm>) {
    %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<128x64xf16, #t, #tm> -> !ttg.memdesc<128x32xf32, #t, #tm>
    tt.return
  }
}
