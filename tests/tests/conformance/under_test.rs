// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the program runs that scripts are played against: in the interpreter, or as a core of a target.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use carrick_driver::targets::Cores;
use carrick_driver::{Choice, Failure, compile_choice, params};
use carrick_ir::Program;
use carrick_sim::Scenario;
use carrick_sim::diff::Pace;
use carrick_sim::scenario::Engine;
use carrick_targets::ALL;
use carrick_tests::build::root;

use crate::settings::Settings;

/// Parameters whose values are the defaults of the program that is built: a core in the kernel has buffers of a fixed size.
const SIZES: [&str; 2] = ["rcv_buf=", "snd_buf="];

/// The program with some features, and what makes cores of it.
pub struct Made {
    pub program: Arc<Program>,
    pub engine: Engine,
    /// bytes of the longest packet
    pub longest: u32,
    /// what the engine needs
    _cores: Option<Box<dyn Cores>>,
}

/// What scripts are played against.
#[derive(Default)]
pub struct UnderTest {
    /// `None`: the interpreter
    target: Option<String>,
    /// also scripts that do not ask for it
    pub always_ipv6: bool,
    /// by the features
    made: RefCell<BTreeMap<String, Rc<Made>>>,
}

impl UnderTest {
    /// The cores of the target with this name.
    pub fn target(name: &str) -> UnderTest {
        UnderTest { target: Some(name.to_owned()), ..UnderTest::default() }
    }

    /// The same, and every script is played over IPv6.
    pub fn over_ipv6(self) -> UnderTest {
        UnderTest { always_ipv6: true, ..self }
    }

    /// Bytes by which packets are longer than scripts expect: headers of IPv6 around segments of the same length.
    pub fn longer(&self) -> u32 {
        if self.always_ipv6 { 20 } else { 0 }
    }

    /// The program with the features of a script.
    ///
    /// # Errors
    /// Why there is none.
    pub fn made(&self, settings: &Settings) -> Result<Rc<Made>, String> {
        let sizes = settings.params.iter().filter(|p| SIZES.iter().any(|size| p.starts_with(size)));
        let sizes: Vec<String> = sizes.cloned().collect();
        let key = format!("{:?} {sizes:?}", settings.choice);
        if let Some(made) = self.made.borrow().get(&key) {
            return Ok(made.clone());
        }
        let made = Rc::new(self.make(&settings.choice, &sizes)?);
        self.made.borrow_mut().insert(key, made.clone());
        Ok(made)
    }

    fn make(&self, choice: &Choice, sizes: &[String]) -> Result<Made, String> {
        let path = root().join("protocols/tcp/tcp.mtp");
        let compiled = compile_choice(&path, choice).map_err(|e| e.to_string())?;
        let mut program = compiled.program.ok_or("the program has errors")?;
        let values = params::values(&program, sizes).map_err(|e| e.to_string())?;
        let defaults = Arc::make_mut(&mut program).params.iter_mut();
        defaults.zip(values).for_each(|(param, value)| param.default = value);
        let Some(name) = &self.target else {
            return Ok(Made { program, engine: Engine::Interpreter, longest: u32::MAX, _cores: None });
        };
        let cores = self.cores(name, &program).map_err(|e| e.to_string())?;
        let longest = cores.fit(Scenario { mtu: u32::MAX, ..Scenario::random(1) }).mtu;
        Ok(Made { program, engine: cores.engine(Pace::Asked), longest, _cores: Some(cores) })
    }

    fn cores(&self, name: &str, program: &Arc<Program>) -> Result<Box<dyn Cores>, Failure> {
        ALL.named(name)?.cores_alone().cores(program, false)
    }
}
