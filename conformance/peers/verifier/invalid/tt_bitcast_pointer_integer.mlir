// rule: tt.bitcast: no pointer to a number
tt.func public @k(%a: !tt.ptr<f32>) {
  %0 = tt.bitcast %a : !tt.ptr<f32> -> i64
  tt.return
}
