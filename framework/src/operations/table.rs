//! The table of operations on linear layouts. `tilewright batch`, `tilewright layout op`, the C interface and the page
//! `docs/layouts.md` are made from it.

use serde_json::Value as Json;
use tilewright_layout::to_snake_case;

use super::error::LayoutOperationError;
use super::{algebra, columns, queries, shape, sizes, values};

/// An operation on linear layouts, by name.
#[derive(Debug, Clone, Copy)]
pub struct LayoutOperationEntry {
    /// The name of the operation, in `snake_case`.
    pub name: &'static str,
    /// Other names of the operation: those of Triton's `LinearLayout`, of its helpers and of its Python binding.
    pub aliases: &'static [&'static str],
    /// The inputs of the operation, in the order of its usage text.
    pub inputs: &'static [LayoutOperationParameter],
    /// The text that describes the operation's result in the documentation: `layout` if the result is a layout,
    /// otherwise the fields of the result's JSON object.
    pub result: &'static str,
    /// The Rust function that performs the operation, such as `LinearLayout::invert`.
    pub rust: &'static str,
    pub(super) function: fn(&Json) -> Result<Json, LayoutOperationError>,
}

/// An input of a [`LayoutOperationEntry`].
#[derive(Debug, Clone, Copy)]
pub struct LayoutOperationParameter {
    /// The name of the input: its key in the JSON object of inputs, such as `layout`.
    pub name: &'static str,
    /// The form of the input's JSON value.
    pub kind: JsonInputKind,
    /// The value if the input is left out, as JSON; `None` if it is required.
    pub default: Option<&'static str>,
}

/// The form of an input's JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonInputKind {
    /// A linear layout.
    Layout,
    /// The name of a dim.
    Dim,
    /// A list of names of dims.
    Dims,
    /// A non-negative integer.
    Number,
    /// A list of non-negative integers.
    Numbers,
    /// A list of pairs of a dim and its size.
    Sizes,
    /// True or false.
    Flag,
    /// A list of pairs of an input dim and its bases, such as `[["lane", [[1], [2]]]]`, or of an output dim and its
    /// masks, such as `[["dim0", [1, 2]]]`. Each mask selects the input bits whose xor is one bit of the coordinate.
    Lists,
    /// An object of dims and coordinates.
    Point,
    /// A list of objects of dims and coordinates.
    Points,
}

impl JsonInputKind {
    /// Returns this form in words, with an example unless the words are enough, for messages and documentation.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Layout => "a layout",
            Self::Dim => "a dim, as `\"lane\"`",
            Self::Dims => "a list of dims, as `[\"lane\", \"warp\"]`",
            Self::Number => "a non-negative integer",
            Self::Numbers => "a list of non-negative integers",
            Self::Sizes => "a list of dims and sizes, as `[[\"lane\", 32]]`",
            Self::Flag => "`true` or `false`",
            Self::Lists => "a list of dims and lists, as `[[\"lane\", [[1], [2]]]]`",
            Self::Point => "an object of dims and coordinates, as `{\"lane\": 5}`",
            Self::Points => "a list of objects of dims and coordinates",
        }
    }
}

impl LayoutOperationEntry {
    /// Returns the operation of this name or alias; an alias may also be in `snake_case`.
    ///
    /// # Errors
    /// [`LayoutOperationError::Unknown`] if no operation has this name or alias.
    ///
    /// ```
    /// use tilewright::operations::LayoutOperationEntry;
    /// assert_eq!(LayoutOperationEntry::find("invertAndCompose")?.name, "invert_and_compose");
    /// assert_eq!(LayoutOperationEntry::find("get_free_variable_masks")?.name, "free_variable_masks");
    /// let error = LayoutOperationEntry::find("flaten_ins").unwrap_err();
    /// assert_eq!(error.to_string(), "unknown operation `flaten_ins`; did you mean `flatten_ins`?");
    /// # Ok::<(), tilewright::operations::LayoutOperationError>(())
    /// ```
    pub fn find(name: &str) -> Result<&'static Self, LayoutOperationError> {
        let named = |operation: &&Self| {
            operation.name == name
                || operation.aliases.iter().any(|alias| *alias == name || to_snake_case(alias) == name)
        };
        LAYOUT_OPERATIONS.iter().find(named).ok_or_else(|| LayoutOperationError::Unknown {
            name: name.to_owned(),
            known: LAYOUT_OPERATIONS.iter().map(|operation| operation.name).collect(),
        })
    }

    /// Returns the operation's input of this name; `None` if the operation has no such input.
    #[must_use]
    pub fn input(&self, name: &str) -> Option<&'static LayoutOperationParameter> {
        self.inputs.iter().find(|input| input.name == name)
    }

    /// Whether the operation's result is a layout rather than a JSON object with other fields.
    #[must_use]
    pub fn gives_layout(&self) -> bool {
        self.result == LAYOUT
    }
}

const LAYOUT: &str = "layout";

const fn required(name: &'static str, kind: JsonInputKind) -> LayoutOperationParameter {
    LayoutOperationParameter { name, kind, default: None }
}

const fn or(name: &'static str, kind: JsonInputKind, default: &'static str) -> LayoutOperationParameter {
    LayoutOperationParameter { name, kind, default: Some(default) }
}

const fn row(
    name: &'static str,
    aliases: &'static [&'static str],
    inputs: &'static [LayoutOperationParameter],
    result: &'static str,
    rust: &'static str,
    function: fn(&Json) -> Result<Json, LayoutOperationError>,
) -> LayoutOperationEntry {
    LayoutOperationEntry { name, aliases, inputs, result, rust, function }
}

const OF: LayoutOperationParameter = required("layout", JsonInputKind::Layout);
const A: LayoutOperationParameter = required("a", JsonInputKind::Layout);
const B: LayoutOperationParameter = required("b", JsonInputKind::Layout);
const SIZE: LayoutOperationParameter = required("size", JsonInputKind::Number);
const IN_DIM: LayoutOperationParameter = required("in_dim", JsonInputKind::Dim);
const OUT_DIM: LayoutOperationParameter = required("out_dim", JsonInputKind::Dim);
const DIM: LayoutOperationParameter = required("dim", JsonInputKind::Dim);
const DIMS: LayoutOperationParameter = required("dims", JsonInputKind::Dims);
const INS: LayoutOperationParameter = required("ins", JsonInputKind::Dims);
const OUTS: LayoutOperationParameter = required("outs", JsonInputKind::Dims);
const ORDER: LayoutOperationParameter = required("order", JsonInputKind::Dims);
const FROM: LayoutOperationParameter = required("from", JsonInputKind::Dim);
const TO: LayoutOperationParameter = required("to", JsonInputKind::Dim);
const SIZES: LayoutOperationParameter = required("sizes", JsonInputKind::Sizes);
const SHAPE: LayoutOperationParameter = required("shape", JsonInputKind::Numbers);
const POINTS: LayoutOperationParameter = required("points", JsonInputKind::Points);

/// The operations on linear layouts, by subject.
pub const LAYOUT_OPERATIONS: &[LayoutOperationEntry] = &[
    // Constructors.
    row("identity_1d", &["identity1D"], &[SIZE, IN_DIM, OUT_DIM], LAYOUT, "LinearLayout::identity", algebra::identity),
    row(
        "strided_1d",
        &["strided1D"],
        &[SIZE, required("stride", JsonInputKind::Number), IN_DIM, OUT_DIM],
        LAYOUT,
        "LinearLayout::strided",
        algebra::strided,
    ),
    row(
        "zeros_1d",
        &["zeros1D"],
        &[SIZE, IN_DIM, OUT_DIM, or("out_dim_size", JsonInputKind::Number, "1")],
        LAYOUT,
        "LinearLayout::zeros",
        algebra::zeros,
    ),
    row(
        "from_bases",
        &["LinearLayout"],
        &[
            required("bases", JsonInputKind::Lists),
            required("out_dim_names", JsonInputKind::Dims),
            or("out_dim_sizes", JsonInputKind::Numbers, "null"),
            or("require_surjective", JsonInputKind::Flag, "true"),
        ],
        LAYOUT,
        "LinearLayout::from_bases",
        algebra::from_bases,
    ),
    row(
        "from_output_masks",
        &[],
        &[required("ins", JsonInputKind::Sizes), required("masks", JsonInputKind::Lists)],
        LAYOUT,
        "LinearLayout::from_output_masks",
        algebra::from_output_masks,
    ),
    row(
        "identity_nd",
        &["identityStandardND"],
        &[IN_DIM, SHAPE, required("order", JsonInputKind::Numbers)],
        LAYOUT,
        "families::cluster::identity_nd",
        algebra::identity_nd,
    ),
    row("empty", &[], &[], LAYOUT, "LinearLayout::empty", algebra::empty),
    // Algebra.
    row("mul", &["direct_sum", "operator*"], &[A, B], LAYOUT, "LinearLayout::direct_sum", algebra::direct_sum),
    row(
        "compose",
        &[],
        &[required("inner", JsonInputKind::Layout), required("outer", JsonInputKind::Layout)],
        LAYOUT,
        "LinearLayout::compose",
        algebra::compose,
    ),
    row("invert", &[], &[OF], LAYOUT, "LinearLayout::invert", algebra::invert),
    row("pseudoinvert", &[], &[OF], LAYOUT, "LinearLayout::pseudoinvert", algebra::pseudoinvert),
    row(
        "invert_and_compose",
        &["invertAndCompose"],
        &[A, B],
        LAYOUT,
        "LinearLayout::invert_and_compose",
        algebra::invert_and_compose,
    ),
    row("solve", &["lstsq"], &[A, B], LAYOUT, "solve", algebra::solve_for),
    row("divide_left", &["divideLeft"], &[OF, DIVISOR], LAYOUT, "LinearLayout::divide_left", algebra::divide_left),
    row("divide_right", &["divideRight"], &[OF, DIVISOR], LAYOUT, "LinearLayout::divide_right", algebra::divide_right),
    row("quotient", &[], &[OF, DIMS], LAYOUT, "LinearLayout::quotient", algebra::quotient),
    row(
        "repetitions",
        &["getReps"],
        &[OF, required("tile", JsonInputKind::Layout)],
        LAYOUT,
        "LinearLayout::divide_out_tile",
        algebra::repetitions,
    ),
    // Dims and sizes.
    row("flatten_ins", &["flattenIns"], &[OF], LAYOUT, "LinearLayout::flatten_ins", shape::flatten_ins),
    row("flatten_outs", &["flattenOuts"], &[OF], LAYOUT, "LinearLayout::flatten_outs", shape::flatten_outs),
    row(
        "reshape_ins",
        &["reshapeIns"],
        &[OF, required("ins", JsonInputKind::Sizes)],
        LAYOUT,
        "LinearLayout::reshape_ins",
        shape::reshape_ins,
    ),
    row(
        "reshape_outs",
        &["reshapeOuts"],
        &[OF, required("outs", JsonInputKind::Sizes)],
        LAYOUT,
        "LinearLayout::reshape_outs",
        shape::reshape_outs,
    ),
    row("transpose_ins", &["transposeIns"], &[OF, ORDER], LAYOUT, "LinearLayout::transpose_ins", shape::transpose_ins),
    row(
        "transpose_outs",
        &["transposeOuts"],
        &[OF, ORDER],
        LAYOUT,
        "LinearLayout::transpose_outs",
        shape::transpose_outs,
    ),
    row("squeeze_ins", &["squeezeIns"], &[OF], LAYOUT, "LinearLayout::squeeze_ins", shape::squeeze_ins),
    row("squeeze_outs", &["squeezeOuts"], &[OF], LAYOUT, "LinearLayout::squeeze_outs", shape::squeeze_outs),
    row("unsqueeze_ins", &["unsqueezeIn"], &[OF, DIM], LAYOUT, "LinearLayout::unsqueeze_ins", shape::unsqueeze_ins),
    row("unsqueeze_outs", &["unsqueezeOut"], &[OF, DIM], LAYOUT, "LinearLayout::unsqueeze_outs", shape::unsqueeze_outs),
    row("rename_in", &["renameInDim"], &[OF, FROM, TO], LAYOUT, "LinearLayout::rename_in", shape::rename_in),
    row("rename_out", &["renameOutDim"], &[OF, FROM, TO], LAYOUT, "LinearLayout::rename_out", shape::rename_out),
    row("resize_in", &["resizeInDim"], &[OF, DIM, SIZE], LAYOUT, "LinearLayout::resize_in", shape::resize_in),
    row("resize_out", &["resizeOutDim"], &[OF, DIM, SIZE], LAYOUT, "LinearLayout::resize_out", shape::resize_out),
    row(
        "no_larger_than",
        &["ensureLayoutNotLargerThan"],
        &[OF, SIZES],
        LAYOUT,
        "LinearLayout::ensure_not_larger_than",
        shape::no_larger_than,
    ),
    row(
        "no_smaller_than",
        &["ensureLayoutNotSmallerThan"],
        &[OF, SIZES],
        LAYOUT,
        "LinearLayout::ensure_not_smaller_than",
        shape::no_smaller_than,
    ),
    row("sublayout", &[], &[OF, INS, OUTS], LAYOUT, "LinearLayout::sublayout", shape::sublayout),
    row("remove_axis", &["removeStandardDim"], &[OF, DIM], LAYOUT, "LinearLayout::remove_axis", shape::remove_axis),
    row(
        "remove_zero_bases",
        &["removeZeroBasesAlongDim"],
        &[OF, DIM],
        LAYOUT,
        "LinearLayout::remove_zero_bases",
        shape::remove_zero_bases,
    ),
    row("concat_ins", &["concatIns"], &[A, B], LAYOUT, "LinearLayout::concat_ins", shape::concat_ins),
    row("concat_outs", &["concatOuts"], &[A, B], LAYOUT, "LinearLayout::concat_outs", shape::concat_outs),
    // Properties of layouts.
    row("apply", &[], &[OF, POINTS], "`points`", "LinearLayout::apply", algebra::apply),
    row("equal", &["operator=="], &[A, B], "`value`", "LinearLayout`, `==", algebra::equal),
    row(
        "equal_ignoring_out_sizes",
        &["equalIgnoringOutDimSizes"],
        &[A, B],
        "`value`",
        "LinearLayout::equal_ignoring_out_sizes",
        queries::equal_ignoring_out_sizes,
    ),
    row(
        "predicates",
        &["isSurjective", "isInjective", "isInvertible"],
        &[OF],
        "`is_surjective`, `is_injective`, `is_invertible`, `num_in_dims`, `num_out_dims`",
        "LinearLayout::is_surjective",
        algebra::predicates,
    ),
    row("matrix", &["getMatrix", "get_matrix_view"], &[OF], "`rows` of bits", "LinearLayout::matrix", algebra::matrix),
    row("rank", &[], &[OF], "`value`", "LinearLayout::rank", queries::rank),
    row("is_distributed", &[], &[OF], "`value`", "LinearLayout::is_distributed", queries::is_distributed),
    row("is_memory_layout", &[], &[OF], "`value`", "LinearLayout::is_memory_layout", queries::is_memory_layout),
    row(
        "is_trivial_over",
        &["isTrivialOver"],
        &[OF, DIMS],
        "`value`",
        "LinearLayout::is_trivial_over",
        queries::is_trivial_over,
    ),
    row(
        "is_identity_on_out",
        &["isIdentityOnOutDim"],
        &[OF, DIM],
        "`value`",
        "LinearLayout::is_identity_on_out",
        queries::is_identity_on_out,
    ),
    row(
        "sublayout_is_zero",
        &["sublayoutIsZero"],
        &[OF, INS, OUTS],
        "`value`",
        "LinearLayout::sublayout_is_zero",
        queries::sublayout_is_zero,
    ),
    row(
        "consecutive_elements",
        &["getNumConsecutiveInOut"],
        &[OF],
        "`value`",
        "LinearLayout::consecutive_elements",
        queries::consecutive_elements,
    ),
    row(
        "contiguous_along_out",
        &["contiguousElemsAlongOutputDim"],
        &[OF, DIM],
        "`value`",
        "LinearLayout::contiguous_along_out",
        queries::contiguous_along_out,
    ),
    row(
        "free_variable_masks",
        &["getFreeVariableMasks"],
        &[OF],
        "`masks` by input dim",
        "LinearLayout::free_variable_masks",
        queries::free_variable_masks,
    ),
    row(
        "output_basis_mask",
        &["getOutputBasisMask"],
        &[OF, INS, required("out", JsonInputKind::Dim)],
        "`value`",
        "LinearLayout::output_basis_mask",
        queries::output_basis_mask,
    ),
    row(
        "input_basis_mask",
        &["getInputBasisMask"],
        &[OF, DIM, OUTS],
        "`value`",
        "LinearLayout::input_basis_mask",
        queries::input_basis_mask,
    ),
    row("output_masks", &[], &[OF], "`masks` by out dim", "LinearLayout::output_masks", queries::output_masks),
    // Registers.
    row(
        "select_bases",
        &["ColumnAction"],
        &[OF, DIM, required("kept", JsonInputKind::Numbers)],
        LAYOUT,
        "ColumnAction::apply",
        columns::select_bases,
    ),
    row(
        "without_broadcast",
        &["actionRemoveBroadcastedRegs"],
        &[OF, DIM],
        "`kept`",
        "LinearLayout::remove_broadcast_action",
        columns::without_broadcast,
    ),
    row(
        "order_for_division",
        &["regPermForDivide"],
        &[OF, DIVISOR, DIM, or("above", JsonInputKind::Flag, "false")],
        "`kept`",
        "LinearLayout::division_order",
        columns::order_for_division,
    ),
    row(
        "additive_first",
        &["actionAdditiveStrides"],
        &[OF, DIM],
        "`kept`, `span`",
        "LinearLayout::order_additive_bases_first",
        columns::additive_first,
    ),
    row(
        "largest_vector",
        &["largestVectorisation"],
        &[
            OF,
            required("widest", JsonInputKind::Number),
            or("register", JsonInputKind::Dim, "\"register\""),
            or("offset", JsonInputKind::Dim, "\"offset\""),
        ],
        "`elements`, `kept`",
        "LinearLayout::widest_vector_access",
        columns::largest_vector,
    ),
    // Shapes that are no powers of two.
    row("enlarge", &[], &[SHAPE], "`shape`, `bounds`", "EnlargedShape::new", sizes::enlarge),
    row("mask", &[], &[OF, SHAPE, DIM], "`shares`: `real`, `mixed`, `nothing`", "EnlargedShape::share_at", sizes::mask),
    row("is_real", &[], &[SHAPE, POINTS], "`values`", "EnlargedShape::is_real", sizes::is_real),
    // Values of a kernel.
    row(
        "index_arithmetic",
        &["applyLinearLayout"],
        &[OF, or("constants", JsonInputKind::Point, "{}")],
        "`instructions`, `values`",
        "apply_layout",
        values::index_arithmetic,
    ),
];

const DIVISOR: LayoutOperationParameter = required("divisor", JsonInputKind::Layout);
