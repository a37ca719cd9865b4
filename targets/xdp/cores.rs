// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cores in the kernel, for comparisons with the interpreter.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use carrick_driver::Failure;
use carrick_driver::cc::Tracing;
use carrick_driver::targets::Cores;
use carrick_ir::Program;
use carrick_sim::diff::Pace;
use carrick_sim::scenario::{Engine, Scenario};
use carrick_xdp_loader::{KernelCore, LoadError, Objects};

use super::build;

/// The longest packet that fits into a frame, which has one page of the kernel's memory.
const LONGEST: u32 = 3000;

/// Objects of one program, and the folder that they are loaded from.
struct KernelCores {
    objects: Objects,
    _object: build::Object,
    verbose: bool,
    /// why the last core could not be made
    refusal: Rc<RefCell<Option<LoadError>>>,
}

/// Compiles a program for the kernel, with tracing.
///
/// # Errors
/// As [`build::cached_object`].
pub fn of(program: &Program, verbose: bool) -> Result<Box<dyn Cores>, Failure> {
    let object = build::cached_object(program, Tracing::On)?;
    let objects = Objects::new(&object.program.path);
    Ok(Box::new(KernelCores { objects, _object: object, verbose, refusal: Rc::default() }))
}

impl Cores for KernelCores {
    /// Packets leave at once, or where their turn is asked for as everywhere.
    fn paces(&self) -> &[Pace] {
        &[Pace::AtOnce, Pace::Asked]
    }

    fn engine(&self, pace: Pace) -> Engine {
        let (objects, refusal) = (self.objects.clone(), self.refusal.clone());
        Engine::Made(Rc::new(move |program: &Arc<Program>, config| {
            match KernelCore::new(&objects, program.clone(), config, pace) {
                Ok(core) => Ok(Box::new(core)),
                Err(refused) => {
                    let text = refused.to_string();
                    refusal.replace(Some(refused));
                    Err(text)
                }
            }
        }))
    }

    fn fit(&self, scenario: Scenario) -> Scenario {
        Scenario { mtu: scenario.mtu.min(LONGEST), ..scenario }
    }

    fn refusal(&self) -> Option<Failure> {
        self.refusal.take().map(|refusal| refusal.failure(self.verbose))
    }
}
