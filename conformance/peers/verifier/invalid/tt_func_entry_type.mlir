// rule: tt.func: the entry block's arguments have the function's types
"tt.func"() <{function_type = (i32) -> (), sym_name = "k"}> ({
^bb0(%x: i64):
  tt.return
}) : () -> ()
