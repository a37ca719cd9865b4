// SPDX-License-Identifier: MIT OR Apache-2.0
//! The texts of open documents: what an editor shows counts, not what is on disk.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use carrick_driver::compile::read_import;

/// Shared by all who read imports.
#[derive(Debug, Clone, Default)]
pub struct Texts(Rc<RefCell<BTreeMap<String, String>>>);

impl Texts {
    pub fn put(&self, name: &str, text: &str) {
        self.0.borrow_mut().insert(name.to_owned(), text.to_owned());
    }

    pub fn remove(&self, name: &str) {
        self.0.borrow_mut().remove(name);
    }

    /// The text of an imported file, as it is in the editor or else on disk.
    ///
    /// # Errors
    /// Why there is none.
    pub fn read(&self, name: &str) -> Result<String, String> {
        let open = self.0.borrow().get(name).cloned();
        open.map_or_else(|| read_import(name), Ok)
    }
}
