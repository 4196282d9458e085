// shows: places: of operations, arguments and a module
#loc = loc("kernel.py":3:0)
module {
  tt.func public @k(%x: i32 loc("kernel.py":3:10), %p: !tt.ptr<i32> loc(unknown)) {
    %y = arith.addi %x, %x : i32 loc(#a)
    tt.store %p, %y : !tt.ptr<i32> loc(callsite("kernel.py":8:1 at "kernel.py":9:2))
    tt.return loc(fused["a", "b"])
  } loc(#loc)
} loc(#loc)
#a = loc("y"("kernel.py":4:8))
