// rule: amdg.update_tensor_descriptor: clamp_bounds is of offsets
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16>, %i: i32) {
    %0 = amdg.update_tensor_descriptor %d pred = %i {clamp_bounds} : !tt.tensordesc<64x64xf16>
    tt.return
  }
}
