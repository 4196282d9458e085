// rule: ttng.reinterpret_tensor_descriptor: the result is a descriptor
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.ptr<i8>) {
    %0 = ttng.reinterpret_tensor_descriptor %d : !tt.ptr<i8> to !tt.ptr<f16>
    tt.return
  }
}
