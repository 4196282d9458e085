// shows: tt.fp_to_fp: each of its floats
tt.func public @k(%a: f32) {
  %0 = tt.fp_to_fp %a, rounding = rtne : f32 -> f8E4M3FN
  %1 = tt.fp_to_fp %a, rounding = rtne : f32 -> f8E4M3FNUZ
  %2 = tt.fp_to_fp %a, rounding = rtne : f32 -> f8E5M2
  %3 = tt.fp_to_fp %a, rounding = rtne : f32 -> f8E5M2FNUZ
  %4 = tt.fp_to_fp %a : f32 -> f64
  tt.return
}
