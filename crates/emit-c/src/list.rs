// SPDX-License-Identifier: MIT OR Apache-2.0
//! Statements on lists.

use carrick_ir::{self as ir, Change, Expr, ExprKind, Order, Place, Proj, Query, Stmt, StmtKind, Ty, walk};

use crate::Emitter;
use crate::names::safe;
use crate::place::{CPlace, get_name, list_bound};
use crate::term::{Binds, CType, Term};

impl Emitter<'_> {
    /// What holds for the list to be there and for `condition`.
    fn on_list(&self, list: &Place, condition: impl Fn(&str) -> String) -> (String, String) {
        let CPlace { text, guard, .. } = self.place(list);
        let condition = condition(&text);
        let all = guard.map_or_else(|| condition.clone(), |guard| format!("{guard} && {condition}"));
        (text, all)
    }

    pub(crate) fn list(
        &mut self,
        stmt: &Stmt,
        (what, dest): (Change, Option<ir::LocalId>),
        list: &Place,
        args: &[Expr],
    ) {
        match (what, args) {
            (Change::ListAdd, [value]) => self.list_add(stmt, list, value),
            (Change::ListInsert, [index, value]) => self.list_insert(stmt, list, index, value),
            (Change::ListRemove, [index]) => {
                let i = self.index(index).anywhere();
                let (l, there) = self.on_list(list, |l| format!("{i} < {l}.len"));
                self.open_at(stmt, format!("if ({there}) {{"));
                self.list_call(stmt, "remove", list, &l, &i);
                self.w.close("}");
            }
            (Change::ListPop, _) => self.list_pop(stmt, dest, list),
            _ => {
                let CPlace { text, guard, .. } = self.place(list);
                let guard = guard.map_or_else(String::new, |guard| format!("if ({guard}) "));
                self.line(stmt, format!("{guard}{text}.len = 0;"));
            }
        }
    }

    /// What a list is asked.
    pub(crate) fn list_query(&self, query: Query, list: &Place, args: &[Expr]) -> Term {
        match (query, args) {
            (Query::ListFind, [key]) => self.list_find(list, key),
            (Query::ListFull, _) => {
                let (len, most) = (self.list_len(list), format!("{}u", list_bound(&list.ty)));
                let most = Term::primary(most, CType::Truth);
                Term::joined(&len, "==", &most, Binds::Equality, CType::Truth)
            }
            _ => self.list_len(list),
        }
    }

    fn list_add(&mut self, stmt: &Stmt, list: &Place, value: &Expr) {
        let v = self.value(value);
        let (l, room) = self.on_list(list, |l| format!("{l}.len < {}u", list_bound(&list.ty)));
        self.open_at(stmt, format!("if ({room}) {{"));
        self.take_beside(stmt, list);
        match &list.ty {
            Ty::List(element, _, order) if self.p.sort_key(element, *order).is_some() => {
                let (key, ty) = (self.key_of(element, *order), self.names.ctype(element));
                self.line(stmt, format!("const {ty} item__ = {v};"));
                let open = self.sorted_name("open", &list.ty);
                self.line(stmt, format!("const uint32_t at__ = {open}(&{l}, item__{key});"));
                let at = self.bounded("at__".into(), list_bound(&list.ty));
                self.line(stmt, format!("{l}.items[{at}] = item__;"));
            }
            _ => {
                let at = self.bounded(format!("{l}.len"), list_bound(&list.ty));
                self.line(stmt, format!("{l}.items[{at}] = {v};"));
                self.line(stmt, format!("{l}.len++;"));
            }
        }
        self.w.close("}");
    }

    fn list_insert(&mut self, stmt: &Stmt, list: &Place, index: &Expr, value: &Expr) {
        let Ty::List(element, n, _) = &list.ty else { return };
        let (i, v, ty) = (self.value(index), self.value(value), self.names.ctype(element));
        let (l, room) = self.on_list(list, |l| format!("{l}.len < {n}u"));
        self.open_at(stmt, format!("if ({room}) {{"));
        self.take_beside(stmt, list);
        self.line(stmt, format!("const {ty} item__ = {v};"));
        self.line(stmt, format!("const uint64_t at__ = carrick_min64({i}, {l}.len);"));
        self.list_call(stmt, "open", list, &l, "at__");
        let at = self.bounded("at__".into(), *n);
        self.line(stmt, format!("{l}.items[{at}] = item__;"));
        self.w.close("}");
    }

    /// From an element to its key.
    fn key_of(&self, element: &Ty, order: Order) -> String {
        match (order, element) {
            (Order::SortedBy(field), Ty::Struct(id)) => {
                format!(".{}", safe(&self.p.structs[id.index()].fields[field as usize].name))
            }
            _ => String::new(),
        }
    }

    /// Calls the function that makes room for an element in a list, whose C this is, or takes one out.
    fn list_call(&mut self, stmt: &Stmt, what: &str, list: &Place, l: &str, index: &str) {
        let name = self.names.ctype(&list.ty).replace("struct ", "");
        self.line(stmt, format!("{name}_{what}(&{l}, {index});"));
    }

    /// The functions that the program needs of lists that are this struct, of which all elements are behind `len`.
    pub(crate) fn list_functions(&mut self, list: &str, element: &Ty, n: u32) {
        self.get_function(list, element, n);
        let is_it = |place: &Place| match &place.ty {
            Ty::List(element, n, _) => self.names.list(element, *n) == list,
            _ => false,
        };
        let (mut opens, mut removes) = (false, false);
        for function in &self.p.functions {
            walk::statements(&function.body, &mut |stmt| {
                let StmtKind::Change { what, on, .. } = &stmt.kind else { return };
                opens |= *what == Change::ListInsert && is_it(on);
                removes |= matches!(what, Change::ListRemove | Change::ListPop) && is_it(on);
            });
        }
        if opens {
            self.gap_function(list, n, "open", "OPEN", "++");
        }
        if removes {
            self.gap_function(list, n, "remove", "CLOSE", "--");
        }
    }

    /// Whether a function of the program reads elements of such a list.
    fn is_read(&mut self, list: &str) -> bool {
        let (mut found, functions) = (false, self.p.functions.iter());
        for function in functions {
            let around = self.function.replace(function);
            walk::all(&function.body, &mut |e| {
                let ExprKind::Load(place) = &e.kind else { return };
                let of_a_list = place.path.iter().any(|part| matches!(part, Proj::Elem(_)));
                found |= of_a_list && self.place(place).reads(list);
            });
            self.function = around;
        }
        found
    }

    /// Reads an element: zero where there is none.
    fn get_function(&mut self, list: &str, element: &Ty, n: u32) {
        if !self.is_read(list) {
            return;
        }
        let (ty, at) = (self.names.ctype(element), self.bounded("index".into(), n));
        let zero = if element.is_scalar() { self.literal(0, element) } else { format!("({ty}){{0}}") };
        let get = get_name(list);
        // What reads an element in place does not call it.
        let unused = if self.over_ipv6() { "CARRICK_UNUSED " } else { "" };
        self.w.open(format!("{unused}static inline {ty} {get}(const struct {list} *l, uint32_t index) {{"));
        self.w.end_with(format!("return index < l->len ? l->items[{at}] : {zero};"));
    }

    fn gap_function(&mut self, list: &str, n: u32, what: &str, gap: &str, counted: &str) {
        self.w.open(format!("CARRICK_GLOBAL_FN int {list}_{what}(struct {list} *l, uint64_t index) {{"));
        self.w.line("CARRICK_GIVEN(l);");
        self.w.line(format!("CARRICK_{gap}_GAP(l->items, {n}u, l->len, index);"));
        self.w.line(format!("l->len{counted};"));
        self.w.end_with("return 0;");
    }

    /// The name of a function of sorted lists of this type.
    pub(crate) fn sorted_name(&self, what: &str, list: &Ty) -> String {
        let Ty::List(element, n, order) = list else { return String::new() };
        let by = self.key_of(element, *order).replace('.', "_by_");
        format!("{}_{what}{by}", self.names.list(element, *n))
    }

    /// The functions that the program needs of a sorted list.
    pub(crate) fn sorted_functions(&mut self, list: &Ty) {
        let Ty::List(element, _, order) = list else { return };
        let Some(key_type) = self.p.sort_key(element, *order) else { return };
        let (mut adds, mut finds) = (false, false);
        for function in &self.p.functions {
            walk::statements(&function.body, &mut |stmt| {
                adds |= matches!(&stmt.kind, StmtKind::Change { what: Change::ListAdd, on, .. } if on.ty == *list);
            });
            walk::all(&function.body, &mut |e| {
                finds |= matches!(&e.kind, ExprKind::Query(Query::ListFind, of, _) if of.ty == *list);
            });
        }
        let (list_type, key_type) = (self.names.ctype(list), self.names.ctype(&key_type));
        if finds {
            let find = self.sorted_name("find", list);
            self.w.line(
                "/* How many elements have a lesser key: halves what may still hold the first that has none. */",
            );
            self.w
                .open(format!("CARRICK_GLOBAL_FN uint32_t {find}(const {list_type} *l, {key_type} key) {{"));
            self.sorted_find(list);
        }
        if adds {
            let open = self.sorted_name("open", list);
            self.w.line("/* Makes room for an element behind those that are not greater. Its index. */");
            self.w.open(format!("CARRICK_GLOBAL_FN uint32_t {open}({list_type} *l, {key_type} key) {{"));
            self.sorted_open(list);
        }
    }

    fn sorted_find(&mut self, list: &Ty) {
        let Ty::List(element, n, order) = list else { return };
        let key = self.key_of(element, *order);
        self.w.line("CARRICK_GIVEN(l);");
        self.w.line("uint32_t from = 0, to = l->len;");
        self.w.open("while (from < to && CARRICK_GOES_ON) {");
        self.w.line("from = CARRICK_FORGOTTEN(from, l->len);");
        self.w.line("to = CARRICK_FORGOTTEN(to, l->len);");
        self.w.line("uint32_t middle = (from + to) / 2;");
        self.w.line(format!("if (l->items[carrick_at(middle, {n}u)]{key} < key)"));
        self.w.line("    from = middle + 1;\nelse\n    to = middle;");
        self.w.close("}");
        self.w.end_with("return from;");
    }

    fn sorted_open(&mut self, list: &Ty) {
        let Ty::List(element, n, order) = list else { return };
        let key = self.key_of(element, *order);
        self.w.line("CARRICK_GIVEN(l);");
        self.w.line("uint32_t at = l->len++;");
        self.w.open(format!(
            "while (at > 0 && key < l->items[carrick_at(at - 1, {n}u)]{key} && CARRICK_GOES_ON) {{"
        ));
        self.w.line("at = CARRICK_FORGOTTEN(at, l->len);");
        self.w.line(format!("l->items[carrick_at(at, {n}u)] = l->items[carrick_at(at - 1, {n}u)];"));
        self.w.line("at--;");
        self.w.close("}");
        self.w.end_with("return at;");
    }

    fn list_find(&self, list: &Place, key: &Expr) -> Term {
        let (CPlace { text, guard, .. }, key) = (self.place(list), self.value(key));
        let (found, c) =
            (format!("{}(&{text}, {key})", self.sorted_name("find", &list.ty)), CType::Unsigned(32));
        match guard {
            None => Term::primary(found, c),
            Some(guard) => Term { text: format!("{guard} ? {found} : 0u"), binds: Binds::Choice, c },
        }
    }

    fn list_pop(&mut self, stmt: &Stmt, dest: Option<ir::LocalId>, list: &Place) {
        let (l, there) = self.on_list(list, |l| format!("{l}.len > 0"));
        if let (Some(dest), Ty::List(element, _, _)) = (dest, &list.ty) {
            let zero = if element.is_scalar() {
                self.literal(0, element)
            } else {
                format!("({}){{0}}", self.names.ctype(element))
            };
            let declaration = self.declared_local(dest);
            self.line(stmt, format!("{declaration} = {there} ? {l}.items[0] : {zero};"));
        }
        self.open_at(stmt, format!("if ({there}) {{"));
        self.list_call(stmt, "remove", list, &l, "0");
        self.w.close("}");
    }
}
