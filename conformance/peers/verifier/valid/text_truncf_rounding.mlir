// shows: arith.truncf: with a rounding
tt.func public @k(%x: f32) {
  %0 = arith.truncf %x to_nearest_even : f32 to f16
  %1 = arith.truncf %x toward_zero : f32 to bf16
  tt.return
}
