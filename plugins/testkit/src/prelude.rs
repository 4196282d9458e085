//! Names that nearly every test of a vendor's plugin uses.

pub use std::collections::{BTreeMap, BTreeSet};
pub use tilewright::{CompilationStageOutput, ProgramCompiler, ProgramError, ProgramOptions};
pub use tilewright_assign::{AssignedModule, LaunchConfig, assign_layouts};
pub use tilewright_emulator::{Argument, Emulator, Fault, FaultKind, GlobalMemory, RunLimits, SemanticsTable};
pub use tilewright_kernel::{
    Binary, Builder, Cast, CollectiveScope, Compare, Counts, Element, Kernel, MathFunction, MemorySpace, Module, Op,
    SpecialRegister, StaticLaunchConfig, Type, Unary, Value, verify,
};
pub use tilewright_layout::families::NeutralFamilies;
pub use tilewright_layout::{
    Dim, DimBases, Families, FamilyParameterValue, FamilyProviders, FamilySpec, Layout, LinearLayout, MemoryLayout,
    SampleLayoutRequest, parse_family_spec,
};
pub use tilewright_lower::build_conversion_kernel;
pub use tilewright_plan::mma::{self, BlockScale, MmaPlan, MmaProblem};
pub use tilewright_plan::movement::{
    AsyncCopySpec, ConversionPlan, GlobalTensor, MovementError, PlanContext, ScanDirection, SharedMemoryAccessor,
    conversion_candidates, plan_async_copy, plan_conversion, plan_reduction, plan_scan, plan_shared_access,
    predict_cycles,
};
pub use tilewright_plugin::{
    Artifact, CodeFormat, CompileError, CompileOptions, Device, DeviceError, LaunchArgument, LaunchRequest, Target,
};
pub use tilewright_target::{
    Direction, Evidence, Instruction, InstructionKind, InstructionOperand, MemoryOperand, OmittedInstruction,
    Semantics, TargetDescription,
};
pub use tilewright_testkit::known_answers::{self, Answers, same_layout};
pub use tilewright_testkit::thread_value::ThreadValue;
pub use tilewright_testkit::{golden, shared_data};
pub use tilewright_verify::kernels::{
    CopyPipelineConfig, build_instruction_kernel, build_mma_kernel, build_pointer_copy_pipeline_kernel,
    build_shared_load_kernel, build_shared_store_kernel,
};
pub use tilewright_verify::{
    build_conversion_case, build_gather_case, build_instruction_case, build_mma_plan_cases, build_reduction_case,
    build_scan_case, build_shared_load_case, build_shared_store_case, check_emulated, check_on_device,
};

pub use crate::code::{artifact, assembled, assembly, refusal};
pub use crate::emulated::{InitialBuffer, check_case, run_block};
pub use crate::programs::{TileAddressText, compiler, program_kernel};
pub use crate::targets::{build_plan_context, target_description};
