// rule: tt.func: the entry block has the function's arguments
"tt.func"() <{function_type = (i32) -> (), sym_name = "k"}> ({
  tt.return
}) : () -> ()
