// shows: tt.clampf: both ways with NaN
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = tt.clampf %x, %x, %x, propagateNan = none : f32
  %1 = tt.clampf %y, %y, %y, propagateNan = all : tensor<64xf16>
  tt.return
}
