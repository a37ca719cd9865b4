//! Statements on lists.

use carrick_ir::{self as ir, Expr, Order, Place, Stmt, StmtKind, Ty};

use crate::Emitter;
use crate::expr::{CPlace, list_bound};
use crate::names::safe;

impl Emitter<'_> {
    /// What holds for the list to be there and for `condition`.
    fn on_list(&self, list: &Place, condition: impl Fn(&str) -> String) -> (String, String) {
        let CPlace { text, guard } = self.place(list);
        let condition = condition(&text);
        let all = guard.map_or_else(|| condition.clone(), |guard| format!("{guard} && {condition}"));
        (text, all)
    }

    pub(crate) fn list(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::ListAdd { list, value } => self.list_add(stmt, list, value),
            StmtKind::ListInsert { list, index, value } => self.list_insert(stmt, list, index, value),
            StmtKind::ListRemove { list, index } => {
                let i = self.expr(index);
                let (l, there) = self.on_list(list, |l| format!("{i} < {l}.len"));
                self.open_at(stmt, format!("if ({there}) {{"));
                let close = if self.kernel {
                    self.gap_call("close", list, &l, &i)
                } else {
                    format!(
                        "memmove(&{l}.items[{i}], &{l}.items[{i} + 1], ({l}.len - {i} - 1) * sizeof {l}.items[0]);"
                    )
                };
                self.line(stmt, close);
                self.line(stmt, format!("{l}.len--;"));
                self.w.close("}");
            }
            StmtKind::ListPop { dest, list } => self.list_pop(stmt, *dest, list),
            StmtKind::ListClear { list } => {
                let CPlace { text, guard } = self.place(list);
                let guard = guard.map_or_else(String::new, |guard| format!("if ({guard}) "));
                self.line(stmt, format!("{guard}{text}.len = 0;"));
            }
            _ => {}
        }
    }

    fn list_add(&mut self, stmt: &Stmt, list: &Place, value: &Expr) {
        let v = self.expr(value);
        let (l, room) = self.on_list(list, |l| format!("{l}.len < {}u", list_bound(&list.ty)));
        self.open_at(stmt, format!("if ({room}) {{"));
        match &list.ty {
            Ty::List(element, _, order) if self.p.sort_key(element, *order).is_some() => {
                let (key, ty) = (self.key_of(element, *order), self.names.ctype(element));
                self.line(stmt, format!("const {ty} item__ = {v};"));
                self.line(stmt, format!("uint32_t at__ = {l}.len++;"));
                let n = list_bound(&list.ty);
                let (at, before) = (self.bounded("at__".into(), n), self.bounded("at__ - 1".into(), n));
                let greater = format!("item__{key} < {l}.items[{before}]{key}");
                let more = if self.kernel { " && CARRICK_GOES_ON" } else { "" };
                self.open_at(stmt, format!("for (; at__ > 0 && {greater}{more}; at__--) {{"));
                if self.kernel {
                    self.line(stmt, format!("at__ = CARRICK_FORGOTTEN(at__, {l}.len);"));
                }
                self.line(stmt, format!("{l}.items[{at}] = {l}.items[{before}];"));
                self.w.close("}");
                self.line(stmt, format!("{l}.items[{at}] = item__;"));
            }
            _ => {
                let at = self.bounded(format!("{l}.len"), list_bound(&list.ty));
                if self.kernel {
                    self.line(stmt, format!("{l}.items[{at}] = {v};"));
                    self.line(stmt, format!("{l}.len++;"));
                } else {
                    self.line(stmt, format!("{l}.items[{l}.len++] = {v};"));
                }
            }
        }
        self.w.close("}");
    }

    fn list_insert(&mut self, stmt: &Stmt, list: &Place, index: &Expr, value: &Expr) {
        let Ty::List(element, n, _) = &list.ty else { return };
        let (i, v, ty) = (self.expr(index), self.expr(value), self.names.ctype(element));
        let (l, room) = self.on_list(list, |l| format!("{l}.len < {n}u"));
        self.open_at(stmt, format!("if ({room}) {{"));
        self.line(stmt, format!("const {ty} item__ = {v};"));
        self.line(stmt, format!("const uint64_t at__ = carrick_min64({i}, {l}.len);"));
        if self.kernel {
            let open = self.gap_call("open", list, &l, "at__");
            self.line(stmt, open);
            self.line(stmt, format!("{l}.len++;"));
        } else {
            let after = format!("({l}.len++ - at__) * sizeof {l}.items[0]");
            self.line(stmt, format!("memmove(&{l}.items[at__ + 1], &{l}.items[at__], {after});"));
        }
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

    /// The name of the function that finds a key in a sorted list of this type.
    pub(crate) fn find_name(&self, list: &Ty) -> String {
        let Ty::List(element, n, order) = list else { return String::new() };
        let by = self.key_of(element, *order).replace('.', "_by_");
        format!("{}_find{by}", self.names.list(element, *n))
    }

    /// Halves what may still hold the first element that is not less.
    pub(crate) fn search_function(&mut self, list: &Ty) {
        let Ty::List(element, n, order) = list else { return };
        let Some(key) = self.p.sort_key(element, *order) else { return };
        let (list_type, key_type) = (self.names.ctype(list), self.names.ctype(&key));
        self.w.line("/* How many elements have a lesser key. */");
        let kind = if self.kernel { "CARRICK_APART" } else { "CARRICK_UNUSED static inline" };
        self.w.open(format!(
            "{kind} uint32_t {}(const {list_type} *l, {key_type} key) {{",
            self.find_name(list)
        ));
        if self.kernel {
            self.w.line("if (!l)");
            self.w.line("    return 0;");
        }
        self.w.line("uint32_t from = 0, to = l->len;");
        if self.kernel {
            self.w.open("while (from < to && CARRICK_GOES_ON) {");
            self.w.line("from = CARRICK_FORGOTTEN(from, l->len);");
            self.w.line("to = CARRICK_FORGOTTEN(to, l->len);");
        } else {
            self.w.open("while (from < to) {");
        }
        self.w.line("uint32_t middle = (from + to) / 2;");
        let middle = self.bounded("middle".into(), *n);
        self.w.line(format!("if (l->items[{middle}]{} < key)", self.key_of(element, *order)));
        self.w.line("    from = middle + 1;\nelse\n    to = middle;");
        self.w.close("}");
        self.w.line("return from;");
        self.w.close("}");
        self.w.blank();
    }

    pub(crate) fn list_find(&self, list: &Place, key: &Expr) -> String {
        let (CPlace { text, guard }, key) = (self.place(list), self.expr(key));
        let found = format!("{}(&{text}, {key})", self.find_name(&list.ty));
        guard.map_or_else(|| found.clone(), |guard| format!("({guard} ? {found} : 0u)"))
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
        if self.kernel {
            let close = self.gap_call("close", list, &l, "0");
            self.line(stmt, close);
            self.line(stmt, format!("{l}.len--;"));
        } else {
            self.line(stmt, format!("memmove({l}.items, {l}.items + 1, --{l}.len * sizeof {l}.items[0]);"));
        }
        self.w.close("}");
    }
}
