// shows: scf.parallel with a reduction, scf.forall
tt.func public @k(%n: index, %x: f32) {
  %c1 = arith.constant 1 : index
  %0 = scf.parallel (%i) = (%n) to (%n) step (%c1) init (%x) -> f32 {
    scf.reduce(%x : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  scf.forall (%i) in (%n) {
  }
  tt.return
}
