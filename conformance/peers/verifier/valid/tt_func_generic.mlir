// shows: tt.func: the generic form
"tt.func"() <{function_type = (i32) -> (), sym_name = "k", sym_visibility = "public"}> ({
^bb0(%x: i32):
  "tt.return"() : () -> ()
}) : () -> ()
