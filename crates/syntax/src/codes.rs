//! The codes of the lexer and the parser: 1 to 199. A number is never used again for something else.

use crate::diag::{Code, code_table};

code_table! {
    STRANGE_CHARACTER = 1, "a character that is not part of the language", "0001";
    UNTERMINATED_COMMENT = 2, "a comment without an end", "0002";
    NUMBER_TOO_LARGE = 3, "a number that does not fit 64 bits", "0003";
    UNKNOWN_UNIT = 4, "an unknown unit", "0004";
    MALFORMED_NUMBER = 5, "a malformed number", "0005";
    FLOATING_POINT = 6, "floating point", "0006";
    STRING = 7, "a string", "0007";
    EXPECTED = 10, "something else was expected", "0010";
    MISSING_SEMICOLON = 11, "a missing semicolon", "0011";
    UNCLOSED = 12, "a bracket that is not closed", "0012";
    NOT_A_DECLARATION = 13, "not a declaration", "0013";
    NO_LOOP = 14, "a loop without a bound", "0014";
    C_STYLE_FOR = 15, "a C-style for loop", "0015";
    POINTER = 16, "a pointer", "0016";
    ASSIGNMENT_IN_EXPRESSION = 17, "an assignment in an expression", "0017";
    ARROW = 18, "`->` where `.` is meant", "0018";
    NOT_IN_THE_LANGUAGE = 19, "a statement that C has and this language does not", "0019";
    TOO_DEEP = 20, "nesting too deep", "0020";
    ELSE_WITHOUT_IF = 21, "an `else` without its `if`", "0021";
}
