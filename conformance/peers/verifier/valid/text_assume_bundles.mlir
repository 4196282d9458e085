// shows: llvm.intr.assume: bundles of operands
tt.func public @k(%x: i32, %c: i1) {
  llvm.intr.assume %c ["align"(%x, %x : i32, i32)] : i1
  tt.return
}
