// shows: amdg.update_tensor_descriptor and amdg.tdm_prefetch
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16>, %i: i32, %p: i1) {
    %0 = amdg.update_tensor_descriptor %d add_offsets = [%i, %i] : !tt.tensordesc<64x64xf16>
    %1 = amdg.update_tensor_descriptor %0 set_bounds = [%i, %i] pred = %i : !tt.tensordesc<64x64xf16>
    %2 = amdg.update_tensor_descriptor %1 add_offsets = [%i, %i] {clamp_bounds} : !tt.tensordesc<64x64xf16>
    amdg.tdm_prefetch %2[%i, %i], %p, speculative = true : !tt.tensordesc<64x64xf16>
    tt.return
  }
}
