// rule: #ttng.tensor_memory_encoding: padded elements of four bits are in adjacent columns
#x = #ttng.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 4, fp4Padded = true>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    tt.return
  }
}
