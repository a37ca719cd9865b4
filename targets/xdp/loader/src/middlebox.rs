// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program in the network at the devices between which it is.

use crate::LoadError;
use crate::device::Device;
use crate::layout::INGRESS;
use crate::link::Whole;
use crate::load_error::failed;
use crate::maps::{self, fd};
use crate::object::Object;

/// The most interfaces: `CARRICK_INTERFACES_MOST`.
pub const INTERFACES: usize = 8;

/// `struct carrick_middlebox`.
fn middlebox(devices: &[Device]) -> Vec<u8> {
    let all =
        |of: &dyn Fn(Option<&Device>) -> Vec<u8>| (0..INTERFACES).flat_map(|n| of(devices.get(n))).collect();
    let count = (devices.len() as u32).to_ne_bytes().to_vec();
    let indices: Vec<u8> = all(&|device| device.map_or(0, |d| d.index).to_ne_bytes().to_vec());
    let own: Vec<u8> = all(&|device| device.map_or([0; 6], |d| d.mac).to_vec());
    [count, indices, own].concat()
}

impl Object {
    /// Makes these devices its interfaces: the first one is number 0.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn set_interfaces(&self, devices: &[Device]) -> Result<(), String> {
        let value = middlebox(devices);
        maps::update(fd(self.map("carrick_middlebox")?), Some(&0_u32.to_ne_bytes()), &value)
            .map_err(failed("write the interfaces"))?;
        let ports = fd(self.map("carrick_ports")?);
        for (number, device) in devices.iter().enumerate() {
            // A device, and no program for it.
            let value = [device.index, 0].map(u32::to_ne_bytes).concat();
            maps::update(ports, Some(&(number as u32).to_ne_bytes()), &value)
                .map_err(failed("write the interfaces"))?;
        }
        self.set_device(devices.first().map_or(0, |device| device.index))
    }

    /// Gives the program all frames of its interfaces, as long as the result is there.
    ///
    /// # Errors
    /// Why a device does not take it; then none has it.
    pub fn attach_between(&self, devices: &[Device]) -> Result<Vec<Whole>, LoadError> {
        let program = self.program(INGRESS).map_err(LoadError::Failed)?;
        devices.iter().map(|device| Whole::create(program, device)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_as_the_program_reads_them() {
        let device = |index, mac| Device { name: String::new(), index, mtu: 1500, mac: [mac; 6] };
        let value = middlebox(&[device(7, 1), device(9, 2)]);
        assert_eq!(value.len(), 4 + INTERFACES * (4 + 6));
        assert_eq!(value[..12], [2_u32, 7, 9].map(u32::to_ne_bytes).concat());
        assert_eq!(value[36..49], [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0]);
    }
}
