// rule: tt.bitcast: the address space stays
tt.func public @k(%a: !tt.ptr<f32>) {
  %0 = tt.bitcast %a : !tt.ptr<f32> -> !tt.ptr<i32, "constant">
  tt.return
}
