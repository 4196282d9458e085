// shows: a pointer to a descriptor that the host encodes
#v = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: !tt.ptr<i8, "descriptor">) {
    %d = ttng.reinterpret_tensor_descriptor %p : !tt.ptr<i8, "descriptor"> to !tt.tensordesc<128x64xf16, #v>
    tt.return
  }
}
