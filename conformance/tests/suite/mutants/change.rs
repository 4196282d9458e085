//! Creates mutants: programs with some changes of their IR or their text.

use tilewright_tile::op::Dialects;
use tilewright_tile::{TileModule, text};

use super::random::Random;
use super::types::all_values;
use super::{attributes, operations, text as letters, types};

/// Returns the text of a mutant of a program, which is given as text and as parsed module.
pub fn mutant(program: &str, read: &TileModule, dialects: &Dialects, random: &mut Random) -> String {
    let changes = 1 + random.below(4);
    // Text changes often break the parse, so they are rare; most mutants should compile.
    if random.once_in(5) {
        let mut program = program.to_owned();
        for _ in 0..changes.min(2) {
            program = letters::change(&program, random);
        }
        return program;
    }
    let mut module = read.clone();
    for _ in 0..changes {
        change(&mut module, dialects, random);
    }
    let program = text::print_module(&module);
    if random.once_in(4) { letters::change(&program, random) } else { program }
}

fn change(module: &mut TileModule, dialects: &Dialects, random: &mut Random) {
    match random.below(16) {
        0 | 1 => return types::size_everywhere(module, random),
        2 | 3 => return types::element_everywhere(module, random),
        4 => return attributes::launch(module, random),
        _ => {}
    }
    let index = random.below(module.functions.len());
    let Some(function) = module.functions.get_mut(index) else { return };
    let Some(body) = &mut function.body else { return };
    let ops = body.walk_region(body.root());
    let Some(&op) = random.of(&ops) else { return };
    match random.below(10) {
        0 | 1 => attributes::of_operation(body, op, random),
        2 => attributes::of_argument(&mut function.arguments, random),
        3 => operations::operand(body, op, random),
        4 => operations::swapped(body, op, random),
        5 => operations::another(body, op, dialects, random),
        6 => operations::without(body, op, random),
        7 => operations::twice(body, op),
        8 => operations::moved(body, op, random),
        _ => {
            let values = all_values(body);
            if let Some(&value) = random.of(&values) {
                types::one_type(body, value, random);
            }
        }
    }
}
