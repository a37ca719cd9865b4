// SPDX-License-Identifier: MIT OR Apache-2.0
//! Columns in Arrow's memory layout, and its C interfaces to them (the C data and C stream interfaces of the Arrow specification).
//! A reader gets pointers into the columns, which live until the last reader has released them.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use carrick_cli::simulations::{Cells, Table};

/// `ARROW_FLAG_NULLABLE`.
const NULLABLE: i64 = 2;

#[repr(C)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

#[repr(C)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

#[repr(C)]
pub struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

// SAFETY: whoever has the stream may move it to another thread: what it points to is immutable, or its own.
unsafe impl Send for ArrowArrayStream {}

/// The values of a column.
enum Values {
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    /// where each text begins and ends, and all texts
    Texts(Vec<i64>, Vec<u8>),
}

struct Laid {
    name: CString,
    /// a bit for each cell that has a value
    valid: Vec<u8>,
    missing: i64,
    values: Values,
}

/// A table in Arrow's layout.
pub struct Layout {
    rows: i64,
    columns: Vec<Laid>,
}

impl Layout {
    /// Of a table.
    pub fn of(table: &Table) -> Layout {
        let columns = table.columns.iter().map(|column| {
            let (values, has): (Values, Vec<bool>) = match &column.cells {
                Cells::Integers(all) => {
                    (Values::Integers(plain(all)), all.iter().map(Option::is_some).collect())
                }
                Cells::Numbers(all) => {
                    (Values::Numbers(plain(all)), all.iter().map(Option::is_some).collect())
                }
                Cells::Texts(all) => (texts(all), all.iter().map(Option::is_some).collect()),
            };
            let mut valid = vec![0; has.len().div_ceil(8)];
            has.iter().enumerate().filter(|(_, has)| **has).for_each(|(n, _)| valid[n / 8] |= 1 << (n % 8));
            let missing = has.iter().filter(|has| !**has).count() as i64;
            Laid { name: c_string(&column.name), valid, missing, values }
        });
        Layout { rows: table.rows as i64, columns: columns.collect() }
    }
}

fn plain<T: Copy + Default>(all: &[Option<T>]) -> Vec<T> {
    all.iter().map(|cell| cell.unwrap_or_default()).collect()
}

fn texts(all: &[Option<String>]) -> Values {
    let (mut ends, mut octets) = (vec![0], Vec::new());
    for cell in all {
        octets.extend(cell.iter().flat_map(|text| text.bytes()));
        ends.push(octets.len() as i64);
    }
    Values::Texts(ends, octets)
}

/// No column has a zero byte in its name: this would end it there.
fn c_string(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

impl Laid {
    fn format(&self) -> *const c_char {
        match self.values {
            Values::Integers(_) => c"l".as_ptr(),
            Values::Numbers(_) => c"g".as_ptr(),
            Values::Texts(..) => c"U".as_ptr(),
        }
    }

    fn buffers(&self) -> Vec<*const c_void> {
        let valid = if self.missing > 0 { self.valid.as_ptr().cast() } else { null() };
        match &self.values {
            Values::Integers(all) => vec![valid, all.as_ptr().cast()],
            Values::Numbers(all) => vec![valid, all.as_ptr().cast()],
            Values::Texts(ends, octets) => vec![valid, ends.as_ptr().cast(), octets.as_ptr().cast()],
        }
    }
}

/// What the memory of a schema belongs to.
struct SchemaOwner {
    _layout: Arc<Layout>,
    children: Vec<*mut ArrowSchema>,
}

/// What the memory of an array belongs to.
struct ArrayOwner {
    _layout: Arc<Layout>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

fn schema(layout: &Arc<Layout>, column: Option<&Laid>, children: Vec<*mut ArrowSchema>) -> ArrowSchema {
    let mut owner = Box::new(SchemaOwner { _layout: layout.clone(), children });
    ArrowSchema {
        format: column.map_or(c"+s".as_ptr(), Laid::format),
        name: column.map_or(c"".as_ptr(), |column| column.name.as_ptr()),
        metadata: null(),
        flags: if column.is_some() { NULLABLE } else { 0 },
        n_children: owner.children.len() as i64,
        children: owner.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(owner).cast(),
    }
}

fn array(
    layout: &Arc<Layout>,
    (missing, buffers): (i64, Vec<*const c_void>),
    children: Vec<*mut ArrowArray>,
) -> ArrowArray {
    let mut owner = Box::new(ArrayOwner { _layout: layout.clone(), buffers, children });
    ArrowArray {
        length: layout.rows,
        null_count: missing,
        offset: 0,
        n_buffers: owner.buffers.len() as i64,
        n_children: owner.children.len() as i64,
        buffers: owner.buffers.as_mut_ptr(),
        children: owner.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(owner).cast(),
    }
}

/// # Safety
/// `it` is a schema that [`schema`] made and that is not released.
unsafe extern "C" fn release_schema(it: *mut ArrowSchema) {
    // SAFETY: the caller's promise; children are boxes of `Box::into_raw`, and a child that was moved away has no `release`.
    unsafe {
        let owner = Box::from_raw((*it).private_data.cast::<SchemaOwner>());
        for child in &owner.children {
            if let Some(release) = (**child).release {
                release(*child);
            }
            drop(Box::from_raw(*child));
        }
        (*it).release = None;
    }
}

/// # Safety
/// `it` is an array that [`array`] made and that is not released.
unsafe extern "C" fn release_array(it: *mut ArrowArray) {
    // SAFETY: as in `release_schema`.
    unsafe {
        let owner = Box::from_raw((*it).private_data.cast::<ArrayOwner>());
        for child in &owner.children {
            if let Some(release) = (**child).release {
                release(*child);
            }
            drop(Box::from_raw(*child));
        }
        (*it).release = None;
    }
}

/// What a stream has left.
struct StreamOwner {
    layout: Arc<Layout>,
    done: bool,
}

/// A stream of one batch: the whole table.
pub fn stream(layout: Arc<Layout>) -> ArrowArrayStream {
    let owner = Box::new(StreamOwner { layout, done: false });
    ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(owner).cast(),
    }
}

impl ArrowArrayStream {
    /// Releases it, if no reader has taken it.
    pub fn end(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: `stream` made it, and it is not released.
            unsafe { release(self) };
        }
    }
}

/// # Safety
/// `it` is a stream that [`stream`] made and that is not released; `out` can be written.
unsafe extern "C" fn get_schema(it: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the caller's promise.
    let owner = unsafe { &*(*it).private_data.cast::<StreamOwner>() };
    let layout = &owner.layout;
    let child = |column| Box::into_raw(Box::new(schema(layout, Some(column), Vec::new())));
    let whole = schema(layout, None, layout.columns.iter().map(child).collect());
    // SAFETY: the caller's promise.
    unsafe { out.write(whole) };
    0
}

/// # Safety
/// As for [`get_schema`].
unsafe extern "C" fn get_next(it: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: the caller's promise, which has no other reference to it.
    let owner = unsafe { &mut *(*it).private_data.cast::<StreamOwner>() };
    let layout = &owner.layout;
    let child = |column: &Laid| {
        Box::into_raw(Box::new(array(layout, (column.missing, column.buffers()), Vec::new())))
    };
    let next = if owner.done {
        // SAFETY: zeros are an array that is released, which ends the stream.
        unsafe { std::mem::zeroed() }
    } else {
        array(layout, (0, vec![null()]), layout.columns.iter().map(child).collect())
    };
    owner.done = true;
    // SAFETY: the caller's promise.
    unsafe { out.write(next) };
    0
}

/// No call fails.
unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    null()
}

/// # Safety
/// `it` is a stream that [`stream`] made and that is not released.
unsafe extern "C" fn release_stream(it: *mut ArrowArrayStream) {
    // SAFETY: the caller's promise.
    unsafe {
        drop(Box::from_raw((*it).private_data.cast::<StreamOwner>()));
        (*it).release = None;
    }
}
