// SPDX-License-Identifier: MIT OR Apache-2.0
//! XLS, which makes pipelines in Verilog of functions in DSLX: its library, loaded when it is needed.

use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::ptr;

use carrick_driver::Failure;
use libloading::Library;

/// Names the library, in place of where `scripts/setup` puts it.
const VARIABLE: &str = "CARRICK_XLS";
/// Where `scripts/setup` puts it.
const PLACE: &str = "/usr/local/lib/carrick/libxls.so";

type Text = *const c_char;
type Texts = *const Text;
type Out = *mut *mut c_char;
type Handle = *mut c_void;

/// Where the library is expected.
pub fn library() -> PathBuf {
    std::env::var_os(VARIABLE).map_or_else(|| PathBuf::from(PLACE), PathBuf::from)
}

/// What distinguishes this release of the library from others: its length, and when it was written.
///
/// # Errors
/// As [`Xls::load`].
pub fn release() -> Result<String, Failure> {
    let path = library();
    let found = path.metadata().map_err(|e| missing(&path, &e))?;
    Ok(format!("{} {:?}", found.len(), found.modified().ok()))
}

fn missing(path: &Path, why: &dyn Display) -> Failure {
    Failure::Missing(format!(
        "cannot load XLS from {}: {why}; `scripts/setup` installs it (the file xls/_blob/libxls.so of PyPI's \
         xls-python), or set {VARIABLE} to its path",
        path.display()
    ))
}

/// The library.
pub struct Xls(Library);

/// How a function becomes a pipeline.
pub struct Pipeline<'a> {
    /// the module's name in Verilog
    pub module: &'a str,
    pub stages: u64,
    pub delay_model: &'a str,
    /// what a stage may take, in picoseconds
    pub period: Option<u64>,
}

/// What becomes of a function.
pub enum Scheduled {
    /// the pipeline
    Verilog(String),
    /// a stage takes longer than it may; so many stages are enough, or no number is
    Late(Option<u64>),
}

impl Xls {
    /// Loads the library.
    ///
    /// # Errors
    /// [`Failure::Missing`] where it is not there, with how to get it.
    pub fn load() -> Result<Xls, Failure> {
        let path = library();
        // SAFETY: the library is a release of XLS, whose initialisers have no requirements.
        let library = unsafe { Library::new(&path) };
        library.map(Xls).map_err(|e| missing(&path, &e))
    }

    /// Calls a function of the library that gives a text, or says why not.
    fn text(&self, call: impl FnOnce(Out, Out) -> Result<bool, Failure>) -> Result<String, Failure> {
        let (mut error, mut text) = (ptr::null_mut(), ptr::null_mut());
        let done = call(&mut error, &mut text)?;
        let text = if done { text } else { error };
        // SAFETY: what the library gave is a string of its own, or nothing.
        let copy = match text.is_null() {
            true => String::new(),
            false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
        };
        let free = self.symbol::<unsafe extern "C" fn(*mut c_char)>("xls_c_str_free")?;
        if !text.is_null() {
            // SAFETY: as above; it is not used any more.
            unsafe { free(text) };
        }
        if done { Ok(copy) } else { Err(Failure::Failed(format!("XLS refuses the program: {copy}"))) }
    }

    fn symbol<T: Copy>(&self, name: &str) -> Result<T, Failure> {
        // SAFETY: each caller names a function of XLS's C interface with the type that it has there.
        let found = unsafe { self.0.get::<T>(name.as_bytes()) };
        found.map(|symbol| *symbol).map_err(|e| Failure::Missing(format!("this XLS has no {name}: {e}")))
    }

    /// Makes the IR of XLS of a module in DSLX.
    ///
    /// # Errors
    /// [`Failure::Failed`] with what XLS says.
    pub fn convert(&self, dslx: &str, module: &str) -> Result<String, Failure> {
        type Convert = unsafe extern "C" fn(Text, Text, Text, Text, Texts, usize, Out, Out) -> bool;
        let convert = self.symbol::<Convert>("xls_convert_dslx_to_ir")?;
        let (dslx, path, module) = (c_text(dslx)?, c_text(&format!("{module}.x"))?, c_text(module)?);
        let none: [Text; 1] = [ptr::null()];
        // SAFETY: all strings live until the call returns.
        self.text(|error, out| unsafe {
            let (path, module) = (path.as_ptr(), module.as_ptr());
            Ok(convert(dslx.as_ptr(), path, module, c"".as_ptr(), none.as_ptr(), 0, error, out))
        })
    }

    /// Makes a pipeline of the function for which XLS's IR is optimized.
    ///
    /// # Errors
    /// [`Failure::Failed`] with what XLS says.
    pub fn pipeline(&self, ir: &str, pipeline: &Pipeline<'_>) -> Result<Scheduled, Failure> {
        let package = self.package(&c_text(ir)?)?;
        let result = self.codegen(package, pipeline);
        self.free("xls_package_free", package)?;
        let result = match result {
            Err(Failure::Failed(text)) => return late(&text).ok_or(Failure::Failed(text)),
            result => result?,
        };
        let verilog = self.verilog(result);
        self.free("xls_schedule_and_codegen_result_free", result)?;
        verilog.map(Scheduled::Verilog)
    }

    fn mangled(&self, module: &str, function: &str) -> Result<String, Failure> {
        type Mangle = unsafe extern "C" fn(Text, Text, Out, Out) -> bool;
        let mangle = self.symbol::<Mangle>("xls_mangle_dslx_name")?;
        let (module, function) = (c_text(module)?, c_text(function)?);
        // SAFETY: all strings live until the call returns.
        self.text(|error, out| Ok(unsafe { mangle(module.as_ptr(), function.as_ptr(), error, out) }))
    }

    /// Optimizes XLS's IR for a function of a module, which becomes its top.
    ///
    /// # Errors
    /// [`Failure::Failed`] with what XLS says.
    pub fn optimized(&self, ir: &str, module: &str, function: &str) -> Result<String, Failure> {
        let (ir, top) = (c_text(ir)?, c_text(&self.mangled(module, function)?)?);
        type Optimize = unsafe extern "C" fn(Text, Text, Out, Out) -> bool;
        let optimize = self.symbol::<Optimize>("xls_optimize_ir")?;
        // SAFETY: all strings live until the call returns.
        self.text(|error, out| Ok(unsafe { optimize(ir.as_ptr(), top.as_ptr(), error, out) }))
    }

    fn package(&self, ir: &CStr) -> Result<Handle, Failure> {
        type Parse = unsafe extern "C" fn(Text, Text, Out, *mut Handle) -> bool;
        let parse = self.symbol::<Parse>("xls_parse_ir_package")?;
        let mut package = ptr::null_mut();
        // SAFETY: all strings live until the call returns; the package is used only if there is one.
        self.text(|error, _| Ok(unsafe { parse(ir.as_ptr(), ptr::null(), error, &mut package) }))?;
        Ok(package)
    }

    fn codegen(&self, package: Handle, pipeline: &Pipeline<'_>) -> Result<Handle, Failure> {
        type Codegen = unsafe extern "C" fn(Handle, Text, Text, bool, Out, *mut Handle) -> bool;
        let codegen = self.symbol::<Codegen>("xls_schedule_and_codegen_package")?;
        let Pipeline { module, stages, delay_model, period } = pipeline;
        let period = period.map(|ps| format!(" clock_period_ps: {ps}")).unwrap_or_default();
        let schedule = c_text(&format!("pipeline_stages: {stages} delay_model: \"{delay_model}\"{period}"))?;
        let flags = c_text(&format!(
            "generator: GENERATOR_KIND_PIPELINE module_name: \"{module}\" flop_inputs: true flop_outputs: true \
             use_system_verilog: false"
        ))?;
        let mut result = ptr::null_mut();
        // SAFETY: the package is one of the library's, and all strings live until the call returns.
        self.text(|error, _| {
            Ok(unsafe { codegen(package, schedule.as_ptr(), flags.as_ptr(), true, error, &mut result) })
        })?;
        Ok(result)
    }

    fn verilog(&self, result: Handle) -> Result<String, Failure> {
        type Verilog = unsafe extern "C" fn(Handle) -> *mut c_char;
        let verilog = self.symbol::<Verilog>("xls_schedule_and_codegen_result_get_verilog_text")?;
        self.text(|_, out| {
            // SAFETY: the result is one of the library's, and `out` a place for a string.
            unsafe { *out = verilog(result) };
            Ok(true)
        })
    }

    fn free(&self, function: &str, handle: Handle) -> Result<(), Failure> {
        let free = self.symbol::<unsafe extern "C" fn(Handle)>(function)?;
        // SAFETY: the handle is one of the library's, and not used any more.
        unsafe { free(handle) };
        Ok(())
    }
}

/// What XLS says of a function that does not fit its stages and its period.
fn late(text: &str) -> Option<Scheduled> {
    let (_, stages) = text.split_once("`--pipeline_stages=").unwrap_or_default();
    let digits = stages.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let too_short = text.contains("cannot achieve the specified clock period");
    match digits.parse() {
        Ok(stages) => Some(Scheduled::Late(Some(stages))),
        Err(_) => too_short.then_some(Scheduled::Late(None)),
    }
}

fn c_text(text: &str) -> Result<CString, Failure> {
    CString::new(text).map_err(|_| Failure::Failed("a zero in a text for XLS".into()))
}
