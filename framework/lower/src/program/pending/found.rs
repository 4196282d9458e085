//! Which products go on while the program does.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tilewright_tile::op::name::{scf, tt, ttg};

use crate::program::lowering::Lowering;
use crate::program::shared::layout_of;
use tilewright_assign::product;
use tilewright_layout::LinearLayout;
use tilewright_plan::contract::{Contraction, MmaProblem, candidates, plan};
use tilewright_tile::marks::PENDING;
use tilewright_tile::{Attribute, Block, Body, Op, Value, ValueOrigin};

use super::state::{AWAIT, Pending};

/// Finds them.
pub(in crate::program) fn planned(lowering: &Lowering<'_>) -> Pending {
    let body = lowering.body;
    let marked =
        |op: &Op| matches!(body.op(*op).attributes.get(PENDING), Some(Attribute::Unit | Attribute::Bool(true)));
    let ops = body.walk(body.root());
    let products = ops.iter().copied().filter(|op| body.op(*op).name() == tt::DOT && marked(op));
    let mut products: HashMap<Op, Arc<Contraction>> =
        products.filter_map(|op| Some((op, Arc::new(in_place(lowering, op)?)))).collect();
    let places = Places::of(body);
    loop {
        let flow = Flow::of(body, &ops, &products, &places);
        let misused = flow.misused(body, &ops, &products, &places);
        if misused.is_empty() {
            let loads = products.keys().flat_map(|&op| loads(body, op).into_iter().flatten().flatten()).collect();
            let there = flow.there;
            return Pending { products, values: flow.values, loads, there };
        }
        products.retain(|op, _| !misused.contains(op));
    }
}

/// The load of a factor behind the conversions of what it gives, the last of the operations.
pub(super) fn load(body: &Body, factor: Value) -> Option<Vec<Op>> {
    let ValueOrigin::Result(op, _) = body.origin(factor) else { return None };
    match body.op(op).name() {
        ttg::LOCAL_LOAD => Some(vec![op]),
        ttg::CONVERT_LAYOUT => {
            let mut chain = vec![op];
            chain.extend(load(body, body.op(op).operands[0])?);
            Some(chain)
        }
        _ => None,
    }
}

/// The loads of both factors.
fn loads(body: &Body, op: Op) -> Option<[Vec<Op>; 2]> {
    Some([load(body, body.operand(op, "a")?)?, load(body, body.operand(op, "b")?)?])
}

/// The plan of a product that reads both factors where they lie.
fn in_place(lowering: &Lowering<'_>, op: Op) -> Option<Contraction> {
    let body = lowering.body;
    let loads = loads(body, op)?;
    if !loads.iter().flatten().all(|&load| stands_before(body, load, op)) {
        return None;
    }
    let mut memories = Vec::with_capacity(2);
    for load in loads.iter().filter_map(|chain| chain.last().copied()) {
        if !is_whole(body, body.op(load).operands[0]) {
            return None;
        }
        let lies = layout_of(lowering, body.op(load).operands[0]).ok()?;
        if !lies.memory.padding.is_empty() {
            return None;
        }
        memories.push(lies.memory.linear);
    }
    let (machine, memories) = (lowering.machine, [&memories[0], &memories[1]]);
    let usual = product::product(body, op, machine).ok()?;
    if usual.batches.is_some() {
        return None;
    }
    if let Some(plan) = reading(&usual.plan, memories) {
        return Some(plan);
    }
    let problem = product::problem(body, op, machine.lanes, machine.warps).ok()?;
    let (others, _) = candidates(&problem, machine.context).ok()?;
    let mut tried = HashSet::new();
    others.into_iter().filter(|other| tried.insert(other.unit.clone())).find_map(|other| {
        let problem = MmaProblem { unit: Some(other.unit), ..problem.clone() };
        reading(&plan(&problem, machine.context).ok()?, memories)
    })
}

/// The plan where it reads both factors where they lie, and its sums may be pending.
fn reading(plan: &Contraction, memories: [&LinearLayout; 2]) -> Option<Contraction> {
    plan.pending_queue()?;
    plan.descriptor_match(0, memories[0]).ok()?.descriptor_match(1, memories[1]).ok()
}

/// Whether what a load or a conversion gives is used once, on the way to the product, which stands behind it with nothing between
/// that may write memory.
fn stands_before(body: &Body, load: Op, op: Op) -> bool {
    let value = body.op(load).results[0];
    let all = body.walk(body.root());
    let uses = all.iter().flat_map(|&user| body.op(user).operands.iter()).filter(|&&operand| operand == value).count();
    if uses != 1 {
        return false;
    }
    let (Some(from), Some(to)) = (all.iter().position(|&at| at == load), all.iter().position(|&at| at == op)) else {
        return false;
    };
    let harmless = |op: &Op| {
        let operation = body.op(*op);
        operation.definition.traits.pure
            || operation.definition.traits.elementwise
            || operation.name() == ttg::LOCAL_LOAD
    };
    from < to && all[from..to].iter().all(harmless)
}

/// Whether a tensor in memory is no part of another.
fn is_whole(body: &Body, value: Value) -> bool {
    match body.origin(value) {
        ValueOrigin::Argument(..) => true,
        ValueOrigin::Result(op, _) => match body.op(op).name() {
            ttg::MEMDESC_SUBSLICE => false,
            ttg::MEMDESC_INDEX => true,
            ttg::MEMDESC_TRANS | ttg::MEMDESC_RESHAPE | ttg::MEMDESC_REINTERPRET => {
                is_whole(body, body.op(op).operands[0])
            }
            _ => true,
        },
    }
}

/// Where operations stand.
struct Places {
    /// The operation in one of whose regions each stands.
    around: HashMap<Op, Op>,
    /// The block in which each stands, and where.
    within: HashMap<Op, (Block, usize)>,
}

impl Places {
    fn of(body: &Body) -> Self {
        let (mut around, mut within) = (HashMap::new(), HashMap::new());
        let mut regions = vec![(None, body.root())];
        while let Some((holder, region)) = regions.pop() {
            for &block in body.blocks(region) {
                for (at, &op) in body.ops(block).iter().enumerate() {
                    around.extend(holder.map(|holder| (op, holder)));
                    within.insert(op, (block, at));
                    regions.extend(body.op(op).regions.iter().map(|&region| (Some(op), region)));
                }
            }
        }
        Self { around, within }
    }
}

/// Where sums go that are pending.
#[derive(Default)]
struct Flow {
    values: HashMap<Value, Arc<Contraction>>,
    there: HashMap<Op, Vec<bool>>,
    /// Values that are the same sums at different times.
    joined: Vec<(Value, Value)>,
}

impl Flow {
    fn of(body: &Body, ops: &[Op], products: &HashMap<Op, Arc<Contraction>>, places: &Places) -> Self {
        let mut flow = Self::default();
        for (&op, plan) in products {
            flow.values.insert(body.op(op).results[0], plan.clone());
        }
        loop {
            let before = flow.values.len();
            flow.joined.clear();
            for &op in ops {
                flow.through(body, op, products, places);
            }
            if flow.values.len() == before {
                return flow;
            }
        }
    }

    fn join(&mut self, from: Value, to: Value) {
        if let Some(plan) = self.values.get(&from).cloned() {
            self.values.entry(to).or_insert(plan);
            self.joined.push((from, to));
        }
    }

    fn through(&mut self, body: &Body, op: Op, products: &HashMap<Op, Arc<Contraction>>, places: &Places) {
        let operation = body.op(op);
        match operation.name() {
            AWAIT => {
                let there: Vec<bool> =
                    operation.operands.iter().map(|&value| is_there(body, op, value, products, places)).collect();
                for ((&from, &to), there) in operation.operands.iter().zip(&operation.results).zip(&there) {
                    if !there {
                        self.join(from, to);
                    }
                }
                self.there.insert(op, there);
            }
            scf::FOR => {
                let Some(&block) = operation.regions.first().and_then(|&region| body.blocks(region).first()) else {
                    return;
                };
                let arguments = body.arguments(block);
                let last = body.ops(block).last().copied();
                for (number, &result) in operation.results.iter().enumerate() {
                    let Some(&argument) = arguments.get(number + 1) else { continue };
                    let given = last.and_then(|last| body.op(last).operands.get(number).copied());
                    let initial = operation.operands.get(number + 3).copied();
                    for from in [given, initial].into_iter().flatten() {
                        self.join(from, argument);
                    }
                    self.join(argument, result);
                }
            }
            _ if products.contains_key(&op) => {
                if let Some(accumulator) = body.operand(op, "c") {
                    self.join(accumulator, operation.results[0]);
                }
            }
            _ => {}
        }
    }

    /// The products whose sums, or what they are added to, go where nothing pending may.
    fn misused(
        &self,
        body: &Body,
        ops: &[Op],
        products: &HashMap<Op, Arc<Contraction>>,
        places: &Places,
    ) -> HashSet<Op> {
        let mut bad: HashSet<Value> = HashSet::new();
        for &op in ops {
            let operation = body.op(op);
            for (number, value) in operation.operands.iter().enumerate() {
                let Some(plan) = self.values.get(value) else { continue };
                let fits = match operation.name() {
                    AWAIT => true,
                    scf::FOR => number >= 3,
                    scf::YIELD => places.around.get(&op).is_some_and(|around| body.op(*around).name() == scf::FOR),
                    _ => products.get(&op).is_some_and(|own| number == 2 && own.hands_on_to(plan)),
                };
                if !fits {
                    bad.insert(*value);
                }
            }
        }
        loop {
            let before = bad.len();
            for &(a, b) in &self.joined {
                let plans = [a, b].map(|value| self.values.get(&value));
                let differ = matches!(plans, [Some(a), Some(b)] if !a.hands_on_to(b));
                if differ || bad.contains(&a) || bad.contains(&b) {
                    bad.extend([a, b]);
                }
            }
            if bad.len() == before {
                break;
            }
        }
        products.keys().copied().filter(|&op| bad.contains(&body.op(op).results[0])).collect()
    }
}

/// Whether a wait is for a value too: where it leaves none under way, or at least as many were issued since as it leaves.
fn is_there(body: &Body, wait: Op, value: Value, products: &HashMap<Op, Arc<Contraction>>, places: &Places) -> bool {
    let outstanding = body.op(wait).attributes.get("outstanding").and_then(Attribute::as_integer).unwrap_or(0);
    let Ok(outstanding @ 1..) = usize::try_from(outstanding) else { return true };
    let ValueOrigin::Result(from, _) = body.origin(value) else { return false };
    let (Some(&(block, issued)), Some(&(own, at))) = (places.within.get(&from), places.within.get(&wait)) else {
        return false;
    };
    if block != own || !products.contains_key(&from) || issued > at {
        return false;
    }
    let since = body.ops(block)[issued + 1..at].iter().filter(|op| products.contains_key(op)).count();
    since >= outstanding
}
