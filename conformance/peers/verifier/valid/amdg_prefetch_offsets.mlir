// shows: amdg.tdm_prefetch: where it begins
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16>, %i: i32, %p: i1) {
    amdg.tdm_prefetch %d[%i, %i], %p, speculative = false : !tt.tensordesc<64x64xf16>
    tt.return
  }
}
