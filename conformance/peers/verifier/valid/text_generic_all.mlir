// shows: the generic form of a whole program
"builtin.module"() ({
  "tt.func"() <{function_type = (!tt.ptr<i32>, i32) -> (), sym_name = "k"}> ({
  ^bb0(%p: !tt.ptr<i32>, %x: i32):
    %0 = "arith.addi"(%x, %x) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    "tt.store"(%p, %0) : (!tt.ptr<i32>, i32) -> ()
    "tt.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
