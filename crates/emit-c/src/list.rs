//! Statements on lists.

use carrick_ir::{self as ir, Expr, Place, Stmt, StmtKind, Ty};

use crate::Emitter;
use crate::expr::{CPlace, list_bound};

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
            StmtKind::ListRemove { list, index } => {
                let i = self.expr(index);
                let (l, there) = self.on_list(list, |l| format!("{i} < {l}.len"));
                self.open_at(stmt, format!("if ({there}) {{"));
                self.line(
                    stmt,
                    format!(
                        "memmove(&{l}.items[{i}], &{l}.items[{i} + 1], ({l}.len - {i} - 1) * sizeof {l}.items[0]);"
                    ),
                );
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
        self.line(stmt, format!("{l}.items[{l}.len++] = {v};"));
        self.w.close("}");
    }

    fn list_pop(&mut self, stmt: &Stmt, dest: Option<ir::LocalId>, list: &Place) {
        let (l, there) = self.on_list(list, |l| format!("{l}.len > 0"));
        if let (Some(dest), Ty::List(element, _)) = (dest, &list.ty) {
            let zero = if element.is_scalar() {
                self.literal(0, element)
            } else {
                format!("({}){{0}}", self.names.ctype(element))
            };
            let declaration = self.names.declaration(element, &self.local(dest));
            self.line(stmt, format!("{declaration} = {there} ? {l}.items[0] : {zero};"));
        }
        self.open_at(stmt, format!("if ({there}) {{"));
        self.line(stmt, format!("memmove({l}.items, {l}.items + 1, --{l}.len * sizeof {l}.items[0]);"));
        self.w.close("}");
    }
}
