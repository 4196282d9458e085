// shows: scf.while: another type passed than carried
tt.func public @k(%x: i32) {
  %0:2 = scf.while (%a = %x) : (i32) -> (i32, f32) {
    %c = arith.cmpi slt, %a, %x : i32
    %f = arith.sitofp %a : i32 to f32
    scf.condition(%c) %a, %f : i32, f32
  } do {
^bb0(%b: i32, %g: f32):
    scf.yield %b : i32
  }
  tt.return
}
