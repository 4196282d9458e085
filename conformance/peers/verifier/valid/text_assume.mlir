// shows: llvm.intr.assume: attributes behind it
tt.func public @k(%x: i32) {
  %c0 = arith.constant 0 : i32
  %c = arith.cmpi sgt, %x, %c0 : i32
  llvm.intr.assume %c : i1
  llvm.intr.assume %c : i1 {tt.hint = 1 : i32}
  tt.return
}
