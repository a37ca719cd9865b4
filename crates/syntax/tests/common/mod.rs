// SPDX-License-Identifier: MIT OR Apache-2.0
//! A generator of programs that parse, fed by bytes so that a failing case shrinks.

/// The program that `bytes` choose: tokens with white space and comments between them.
pub fn program(bytes: &[u8]) -> String {
    let mut gen_ = Generator { bytes, at: 0, out: String::new(), depth: 0 };
    for _ in 0..=gen_.choose(4) {
        gen_.item();
    }
    gen_.out
}

/// The tree as text, without the places.
pub fn tree(text: &str) -> String {
    let (file, diagnostics) = carrick_syntax::parse(text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
    let mut tree = String::new();
    let debug = format!("{file:?}");
    let mut rest = debug.as_str();
    while let Some((before, after)) = rest.split_once("Span {") {
        tree.push_str(before);
        rest = after.split_once('}').map_or("", |(_, r)| r);
    }
    tree + rest
}

struct Generator<'a> {
    bytes: &'a [u8],
    at: usize,
    out: String,
    depth: u32,
}

const GAPS: [&str; 10] =
    [" ", " ", " ", "  ", "\n", "\n\n\n", " /* c */ ", " // c\n", "\n// own\n", "\n/* a\n b */\n\n"];
const NAMES: [&str; 6] = ["a", "list_", "some_name_that_is_rather_long", "max", "c1", "_x"];
const TYPES: [&str; 4] = ["uint32", "seq32", "some_declared_type_t", "bytes"];
const ATOMS: [&str; 7] = ["1", "0x_ff", "10ms", "true", "none", "INF", "64KiB"];
const OPERATORS: [&str; 18] =
    ["||", "&&", "|", "^", "&", "==", "!=", "<", "<=", ">", ">=", "<<", ">>", "+", "-", "*", "/", "%"];
const SIMPLE: [&str; 6] = ["struct", "scratchpad", "net_header", "opt_t", "opt_list", "pkt_bp"];

impl Generator<'_> {
    /// A number below `n`; the simplest choice when the bytes are used up.
    fn choose(&mut self, n: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % n
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.choose(from.len())]
    }

    /// Tokens, which blanks in `text` separate, each behind a gap.
    fn put(&mut self, text: &str) {
        for token in text.split(' ') {
            let gap = self.pick(&GAPS);
            self.out.push_str(gap);
            self.out.push_str(token);
        }
    }

    fn name(&mut self) {
        let name = self.pick(&NAMES);
        self.put(name);
    }

    fn doc(&mut self) {
        if self.choose(4) == 1 {
            self.out.push_str("\n\n/// documented \n///  twice\n");
        }
    }

    fn list(&mut self, one: fn(&mut Self)) {
        for n in 0..self.choose(5) {
            if n > 0 {
                self.put(",");
            }
            one(self);
        }
    }

    fn ty(&mut self) {
        self.depth += 1;
        match self.choose(if self.depth > 4 { 1 } else { 5 }) {
            1 => {
                self.put("list <");
                self.ty();
                if self.choose(2) == 1 {
                    self.put(", 2 + 1");
                }
                self.put(">");
            }
            2 => self.put("sliding_wnd ( 8 , 2 )"),
            _ => {
                let ty = self.pick(&TYPES);
                self.put(ty);
            }
        }
        self.depth -= 1;
    }

    fn expr(&mut self) {
        self.depth += 1;
        match self.choose(if self.depth > 5 { 2 } else { 10 }) {
            0 => self.name(),
            1 => {
                let atom = self.pick(&ATOMS);
                self.put(atom);
            }
            2..=4 => {
                self.expr();
                let operator = self.pick(&OPERATORS);
                self.put(operator);
                self.expr();
            }
            5 => {
                let operator = self.pick(&["-", "!", "~"]);
                self.put(operator);
                self.expr();
            }
            6 => {
                self.put("(");
                self.expr();
                self.put(")");
            }
            7 => {
                self.name();
                self.put("(");
                self.list(Self::expr);
                self.put(")");
            }
            8 => {
                self.name();
                self.put(". f [");
                self.expr();
                self.put("]");
            }
            _ => {
                self.expr();
                self.put("?");
                self.expr();
                self.put(":");
                self.expr();
            }
        }
        self.depth -= 1;
    }

    fn block(&mut self) {
        self.put("{");
        for _ in 0..self.choose(4) {
            self.stmt();
        }
        self.put("}");
    }

    fn body(&mut self) {
        if self.choose(3) == 1 { self.stmt() } else { self.block() }
    }

    fn if_stmt(&mut self) {
        self.put("if (");
        self.expr();
        self.put(")");
        self.body();
        match self.choose(4) {
            1 => {
                self.put("else");
                self.block();
            }
            2 => {
                self.put("else if ( x )");
                self.body();
            }
            3 => {
                self.put("else");
                self.body();
            }
            _ => {}
        }
    }

    fn choice(&mut self) {
        self.put("choose (");
        self.expr();
        self.put(") {");
        for _ in 0..=self.choose(3) {
            self.doc();
            self.expr();
            let more = self.pick(&["->", "->", ".. 7 ->", ", 2 , A .. B ->"]);
            self.put(more);
            self.body();
        }
        if self.choose(2) == 1 {
            self.put("else ->");
            self.body();
        }
        self.put("}");
    }

    fn stmt(&mut self) {
        self.depth += 1;
        match self.choose(if self.depth > 4 { 4 } else { 12 }) {
            0 => self.put("stop ;"),
            1 => {
                self.name();
                let operator = self.pick(&["=", "+=", "<<=", ">>="]);
                self.put(operator);
                self.expr();
                self.put(";");
            }
            2 => {
                self.ty();
                self.name();
                let rest = self.pick(&[";", "= 1 ;", "( a , b ) ;", "[ 4 ] ;", "= { .. e , a = 1 } ;"]);
                self.put(rest);
            }
            3 => {
                let stmt = self.pick(&[
                    "x ++ ;",
                    "return ;",
                    "raise e ;",
                    "raise e at k ( a , b ) ;",
                    "raise e at k ( a ) { .. f ( x ) , .. b . c , d = { g = 1 , } , h = - 2 } ;",
                    "f ( { a = 1 , .. b } , c , { } ) ;",
                    "return { .. a } ;",
                    "f ( x ) ;",
                    "return - 1 ;",
                    "break ;",
                    "goto s ;",
                ]);
                self.put(stmt);
            }
            4..=6 => self.if_stmt(),
            7 => {
                self.put("for ( uint32 i in 0 .. n max 4 )");
                self.body();
            }
            8 => {
                self.put("while (");
                self.expr();
                self.put("max 4 )");
                self.body();
            }
            9 => {
                self.put("for ( sample s in");
                self.expr();
                self.put(")");
                self.block();
            }
            10 => self.choice(),
            _ => self.block(),
        }
        self.depth -= 1;
    }

    fn field(&mut self) {
        self.doc();
        self.ty();
        self.name();
        let rest = self.pick(&[";", ": 4 ;", "[ 3 ] ;", ", b ;", ": 4 = a / b - 1 ;", "= x ;"]);
        self.put(rest);
    }

    fn fields(&mut self) {
        self.put("{");
        for _ in 0..self.choose(4) {
            match self.choose(6) {
                0 => self.put(".. a ;"),
                _ => self.field(),
            }
        }
        self.put("}");
        if self.choose(4) == 1 {
            self.put(";");
        }
    }

    fn members(&mut self, depth: usize) {
        self.put("{");
        for _ in 0..self.choose(4) {
            match self.choose(if depth < 3 { 8 } else { 1 }) {
                1 => {
                    self.doc();
                    self.put("if ( a & 4 == 0 )");
                    self.members(depth + 1);
                    if self.choose(2) == 0 {
                        self.put("else if ( b )");
                        self.members(depth + 1);
                        self.put("else");
                        self.members(depth + 1);
                    }
                }
                2 => {
                    self.put("union ( kind ) { A ->");
                    self.members(depth + 1);
                    self.put("2 + 1 ->");
                    self.members(depth + 1);
                    let end = self.pick(&["}", "; }"]);
                    self.put(end);
                }
                _ => self.field(),
            }
        }
        self.put("}");
    }

    fn names_in_braces(&mut self, trailing: bool) {
        self.put("{");
        let before = self.out.len();
        self.list(Self::name);
        if trailing && self.out.len() > before && self.choose(3) == 1 {
            self.put(",");
        }
        self.put("}");
    }

    fn reaction(&mut self) {
        self.doc();
        let head = self.pick(&["on e", "on e x", "on e x with pad p , c g", "on e with pad p"]);
        self.put(head);
        if self.choose(2) == 1 {
            self.put("if (");
            self.expr();
            self.put(")");
        }
        self.block();
    }

    fn machine(&mut self) {
        self.put("machine m for c k {");
        for _ in 0..self.choose(4) {
            if self.choose(3) == 1 {
                self.reaction();
                continue;
            }
            self.doc();
            self.put("state s {");
            for _ in 0..self.choose(3) {
                self.reaction();
            }
            let end = self.pick(&["}", "} ;"]);
            self.put(end);
        }
        self.put("}");
    }

    fn feature(&mut self) {
        self.doc();
        self.put("feature f = a { } feature f ( a , b ) default { requires g , h = i ; excludes j ;");
        self.put("dispatch d { a -> { p after q , r before s } ; }");
        self.item();
        self.put("}");
    }

    fn layout(&mut self) {
        self.put("layout b { group g as udp");
        self.names_in_braces(true);
        self.put("pack p");
        self.names_in_braces(true);
        self.put("range x in 1 .. y + 2 ; align x = 8 ; }");
    }

    fn item(&mut self) {
        self.doc();
        match self.choose(17) {
            0 => {
                self.put("const uint32 a =");
                self.expr();
                self.put(";");
            }
            1 => self.put("param duration d = 1s in 1ms .. 2 * 30s ;"),
            2 => {
                self.put("enum e : uint8");
                self.names_in_braces(true);
            }
            3 => {
                let keyword = self.pick(&SIMPLE);
                self.put(keyword);
                self.name();
                self.fields();
            }
            4 => {
                self.put("event e : app_event");
                self.fields();
            }
            5 => {
                self.put("context c by k {");
                self.field();
                self.put("timer_t t");
                if self.choose(2) == 1 {
                    self.put("[");
                    self.expr();
                    self.put("]");
                }
                self.put("-> e ; }");
            }
            6 => {
                self.put("dispatch d { a ->");
                self.names_in_braces(true);
                self.put("absent");
                self.names_in_braces(false);
                self.put("; }");
            }
            7 => self.put("seg_rule r ( x ) [ B :: f , x , - x , prev . seq + 1 ] ;"),
            11 => self.put("coalescing_rule r [ B , prev . a < bp . a , x , y ] ;"),
            10 => {
                self.put("frame_union u");
                self.names_in_braces(true);
            }
            9 => {
                self.put("pkt_bp b over h");
                self.members(0);
            }
            15 => self.feature(),
            13 => self.layout(),
            14 => self.put("pkt_bp b { uint8 x : 4 in 0 .. 3 = 1 ; }"),
            12 => self.machine(),
            8 => self.put("interface i { a -> b at k ( x , y ) ; c -> d on e ; }"),
            _ => {
                self.ty();
                self.put("f (");
                self.list(|g| {
                    g.ty();
                    g.name();
                });
                self.put(")");
                self.block();
            }
        }
    }
}
