// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is done to lists: a function for each kind of list and operation that the program has.

use carrick_ir::{Loc, Order, Ty};

use super::emitter::{Emitted, Emitter, unsupported};
use super::names::variable;

/// A kind of list.
struct Kind {
    name: String,
    element: String,
    most: u32,
}

impl Emitter<'_> {
    fn kind(&mut self, list: &Ty) -> Emitted<Kind> {
        let Ty::List(of, most, _) = list else {
            return unsupported("a list of an unknown kind", Loc::default());
        };
        Ok(Kind { name: self.ty(list), element: self.ty(of), most: *most })
    }

    /// `a` before `b`, as a type orders its values.
    pub fn less(&mut self, ty: &Ty, a: &str, b: &str) -> String {
        if *ty != Ty::Seq32 {
            return format!("({a} < {b})");
        }
        self.helper("before", || {
            "// Serial order: the distance from a to b is in 1..2^31.\n\
             fn before(a: u32, b: u32) -> u1 {\n    (a - b) > u32:0x7fffffff\n}\n"
                .into()
        });
        format!("before({a}, {b})")
    }

    /// The function that adds an element at the end or, to a sorted list, where its key says.
    pub fn push(&mut self, list: &Ty) -> Emitted<String> {
        let Kind { name, element, most } = self.kind(list)?;
        let function = format!("add_to_{}", name.to_lowercase());
        let sorted = matches!(list, Ty::List(_, _, order) if *order != Order::Given);
        if sorted {
            let insert = self.insert(list)?;
            let rank = self.rank(list, true)?;
            let key = self.key(list)?.0;
            self.helper(&function, || {
                format!(
                    "fn {function}(l: {name}, v: {element}) -> {name} {{\n    {insert}(l, {rank}(l, v{key}), v)\n}}\n"
                )
            });
        } else {
            self.helper(&function, || {
                format!(
                    "fn {function}(l: {name}, v: {element}) -> {name} {{\n    \
                     if l.len < u32:{most} {{\n        \
                     {name} {{ len: l.len + u32:1, items: update(l.items, l.len, v) }}\n    \
                     }} else {{ l }}\n}}\n"
                )
            });
        }
        Ok(function)
    }

    /// The function that adds an element before the one with an index.
    pub fn insert(&mut self, list: &Ty) -> Emitted<String> {
        let Kind { name, element, most } = self.kind(list)?;
        let function = format!("insert_into_{}", name.to_lowercase());
        self.helper(&function, || {
            format!(
                "fn {function}(l: {name}, index: u32, v: {element}) -> {name} {{\n    \
                 let at = if index < l.len {{ index }} else {{ l.len }};\n    \
                 let items = for (i, items): (u32, {element}[{most}]) in u32:0..u32:{most} {{\n        \
                 if i == at {{ update(items, i, v) }}\n        \
                 else if i > at {{ update(items, i, l.items[i - u32:1]) }}\n        \
                 else {{ items }}\n    }}(l.items);\n    \
                 if l.len < u32:{most} {{ {name} {{ len: l.len + u32:1, items: items }} }} else {{ l }}\n}}\n"
            )
        });
        Ok(function)
    }

    /// The function that takes out the element with an index.
    pub fn remove(&mut self, list: &Ty) -> Emitted<String> {
        let Kind { name, element, most } = self.kind(list)?;
        let function = format!("remove_from_{}", name.to_lowercase());
        let last = most - 1;
        self.helper(&function, || {
            format!(
                "fn {function}(l: {name}, at: u32) -> {name} {{\n    \
                 let items = for (i, items): (u32, {element}[{most}]) in u32:0..u32:{last} {{\n        \
                 if i >= at {{ update(items, i, l.items[i + u32:1]) }} else {{ items }}\n    }}(l.items);\n    \
                 if at < l.len {{ {name} {{ len: l.len - u32:1, items: items }} }} else {{ l }}\n}}\n"
            )
        });
        Ok(function)
    }

    /// The function that gives an element, zeros outside.
    pub fn element(&mut self, list: &Ty) -> Emitted<String> {
        let Kind { name, element, .. } = self.kind(list)?;
        let function = format!("of_{}", name.to_lowercase());
        self.helper(&function, || {
            format!(
                "fn {function}(l: {name}, at: u64) -> {element} {{\n    \
                 if at < (l.len as u64) {{ l.items[at] }} else {{ zero!<{element}>() }}\n}}\n"
            )
        });
        Ok(function)
    }

    /// The field that sorts a list, with a dot, and its type.
    fn key(&mut self, list: &Ty) -> Emitted<(String, Ty)> {
        let Ty::List(of, _, order) = list else {
            return unsupported("a list of an unknown kind", Loc::default());
        };
        let program = self.program;
        let Some(ty) = program.sort_key(of, *order) else {
            return unsupported("a list without a key", Loc::default());
        };
        Ok(match (order, &**of) {
            (Order::SortedBy(field), Ty::Struct(id)) => {
                let field = &program.structs[id.index()].fields[*field as usize];
                (format!(".{}", variable(&field.name)), ty)
            }
            _ => (String::new(), ty),
        })
    }

    /// The function that gives the index of the first element that is behind a key, or, unless `behind`, not before it.
    pub fn rank(&mut self, list: &Ty, behind: bool) -> Emitted<String> {
        let Kind { name, most, .. } = self.kind(list)?;
        let (field, ty) = self.key(list)?;
        let key = self.ty(&ty);
        let item = format!("l.items[i]{field}");
        let found =
            if behind { self.less(&ty, "key", &item) } else { format!("!{}", self.less(&ty, &item, "key")) };
        let function = format!("{}_in_{}", if behind { "behind" } else { "find" }, name.to_lowercase());
        self.helper(&function, || {
            format!(
                "fn {function}(l: {name}, key: {key}) -> u32 {{\n    \
                 let (_, at) = for (i, (found, at)): (u32, (u1, u32)) in u32:0..u32:{most} {{\n        \
                 if found || i >= l.len || {found} {{ (u1:1, at) }} else {{ (u1:0, i + u32:1) }}\n    \
                 }}((u1:0, u32:0));\n    at\n}}\n"
            )
        });
        Ok(function)
    }
}
