// rule: an alias is said once
#x = #ttg.shared_memory
#x = #ttg.shared_memory
module {
}
