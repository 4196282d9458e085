// shows: ttg.mask and its return
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%c: i1, %x: f32) {
    %0 = "ttg.mask"(%c) ({
      %1 = arith.addf %x, %x : f32
      ttg.mask.return %1 : f32
    }) : (i1) -> f32
    tt.return
  }
}
