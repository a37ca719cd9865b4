// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options that end with a list: adding one to a blueprint, and its elements to and from bytes.

use carrick_ir::arith;

use crate::bits::get_bits;
use crate::code::OptAdd;
use crate::machine::Machine;
use crate::wire::{ElementsCode, OptCode};

impl Machine {
    /// Adds an option with a list; none, if that has too few elements.
    pub(crate) fn option_add(&mut self, add: &OptAdd, fp: usize) {
        self.put(&add.parts, fp, fp + add.cell as usize);
        self.put(&add.list, fp, fp + add.elements as usize);
        if self.mem[fp + add.elements as usize] < u64::from(add.least) {
            self.mem[fp + add.cell as usize] = 0;
        }
    }
}

impl ElementsCode {
    /// How many elements so many bytes are, if that is a number which the list can have.
    fn count(&self, octets: usize) -> Option<usize> {
        let n = octets / self.octets;
        (octets.is_multiple_of(self.octets) && (self.least..=self.most).contains(&n)).then_some(n)
    }

    /// Reads the elements that fill these bytes; `None` if they do not.
    pub(crate) fn read(&self, mut octets: &[u8], cells: &mut [u64]) -> Option<()> {
        let (n, first) = (self.count(octets.len())?, self.cell as usize);
        cells[first] = n as u64;
        for (i, (ty, len)) in (0..n).flat_map(|_| &self.parts).enumerate() {
            cells[first + 1 + i] = arith::canonical(ty, get_bits(octets, 0, *len as u32 * 8));
            octets = &octets[*len..];
        }
        Some(())
    }

    pub(crate) fn write(&self, cells: &[u64], out: &mut Vec<u8>) {
        let first = self.cell as usize;
        let n = cells[first] as usize;
        for (i, (_, len)) in (0..n).flat_map(|_| &self.parts).enumerate() {
            out.extend_from_slice(&cells[first + 1 + i].to_be_bytes()[8 - len..]);
        }
    }
}

impl OptCode {
    /// Whether a received option of this kind can be so long.
    pub(crate) fn fits(&self, len: usize) -> bool {
        match (len.checked_sub(usize::from(self.len)), &self.list) {
            (Some(octets), Some(list)) => list.count(octets).is_some(),
            (rest, _) => rest == Some(0),
        }
    }

    /// Bytes that the option takes as it stands in the blueprint's cells.
    pub(crate) fn octets(&self, cells: &[u64]) -> usize {
        let listed = self.list.as_ref().map_or(0, |list| cells[list.cell as usize] as usize * list.octets);
        usize::from(self.len) + listed
    }
}
