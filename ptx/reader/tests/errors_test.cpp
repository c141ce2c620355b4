// What breaks the grammar is refused in one line, which says where and why.
#include <gtest/gtest.h>

#include "ptx/reader/reader.h"
#include "ptx/reader/tests/samples.h"

namespace ptx::tests {
namespace {

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const BadPtx& error) {
    return error.what();
  }
  return "read";
}

struct Wrong {
  std::string text, message;
};

TEST(Errors, OfTheHeader) {
  for (const auto& [text, message] : std::vector<Wrong>{
           {"", "line 1: expected '.version', got the end of the text"},
           {"\n\nhello", "line 3: expected '.version', got 'hello'"},
           {".version x", "line 1: expected a version after '.version', got 'x'"},
           {".version 9.0\nret", "line 2: expected '.target' after '9.0', got 'ret'"},
           {".version 9.0 .target 5", "line 1: expected a target after '.target', got '5'"},
           {".version 9.0 .target sm_90, 5",
            "line 1: expected an option of the target after ',', got '5'"},
           {".version 9.0 .target sm_90\n.address_size 32", "line 2: addresses must have 64 bits"}})
    EXPECT_EQ(refusal(text), message);
}

TEST(Errors, OfDeclarations) {
  for (const auto& [text, message] : std::vector<Wrong>{
           {".frame 3;", "line 4: the directive '.frame' is not known here"},
           {".visible .local .b32 x;", "line 4: the directive '.local' is not known here"},
           {"ret;", "line 4: expected a directive after '64', got 'ret'"},
           {".visible x", "line 4: expected a directive after '.visible', got 'x'"},
           {".global .b7 x;", "line 4: expected a type after '.global', got '.b7'"},
           {".global .pred x;", "line 4: a predicate can only be a register"},
           {".global .texref x;", "line 4: references to textures are not known here: '.texref'"},
           {".global .b32 5;", "line 4: expected the name of a variable after '.b32', got '5'"},
           {".global .b32 x", "line 4: expected ';' after 'x', got the end of the text"},
           {".global .align 3 .b32 x;", "line 4: an alignment is a power of two, got 3"},
           {".global .align 0 .b32 x;", "line 4: an alignment is a power of two, got 0"},
           {".global .align 2097152 .b32 x;",
            "line 4: an alignment is at most 1048576, got 2097152"},
           {".global .b32 x[1099511627776];",
            "line 4: a variable of more than 1099511627776 bytes"},
           {".global .b8 x[-1];",
            "line 4: an array is at most 1099511627776, got 18446744073709551615"},
           {".global .b8 x[2][];", "line 4: expected a number of elements after '[', got ']'"},
           {".global .b8 x[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1];",
            "line 4: an array of too many dimensions"},
           {".global .b8 x[2][0] = {{1}};", "line 4: rows of no elements"},
           {".global .b8 x[99999999][99999999];",
            "line 4: a variable of more than 1099511627776 bytes"},
           {".global .b8 x[][99999999][99999999] = {1};",
            "line 4: a variable of more than 1099511627776 bytes"},
           {".global .b8 x;\n.global .b8 x;", "line 5: 'x' is declared twice"},
           {".global .b8 x;\n.func x();", "line 5: 'x' is declared twice"},
           {".func x();\n.global .b8 x;", "line 5: 'x' is declared twice"},
           {".func x() { ret; }\n.func x() { ret; }", "line 5: 'x' is declared twice"},
           {".alias a, f;", "line 4: 'f' is no function"},
           {".func f() {} .func g() {} .alias g, f;", "line 4: 'g' is declared twice"},
           {".func 5", "line 4: expected the name of a function after '.func', got '5'"},
           {".func f(.reg .b32 x);", "line 4: parameters in registers are not known here"},
           {".func f(.b32 x);", "line 4: expected '.param' after '(', got '.b32'"},
           {".func f(.param .b32 x;", "line 4: expected ')' after 'x', got ';'"},
           {".func f(.param .b32 x, .param .b32 x);", "line 4: 'x' is declared twice"},
           {".func (.param .b32 x) f(.param .b32 x);", "line 4: 'x' is declared twice"},
           {".func f() .fast;", "line 4: the directive '.fast' is not known of a function"},
           {".entry f() .maxntid 2000000;",
            "line 4: a number of threads or blocks is at most 1048576, got 2000000"},
           {".entry f() .maxntid 1, 1, 1, 1;", "line 4: expected ';' after '1', got ','"},
           {".global .attribute(.managed .b8 x;",
            "line 4: expected ')' after ';', got the end of the text"},
           {".file 1 a", "line 4: expected the name of a file in quotes after '1', got 'a'"},
           {".file -1 \"a\"",
            "line 4: the number of a file is at most 2147483647, got 18446744073709551615"},
           {".section .debug_info x", "line 4: expected '{' after '.debug_info', got 'x'"},
           {".section .debug_info {\n.b8 5", "line 4: a '{' without its '}'"},
           {".section .debug_str { .b9 5 }",
            "line 4: expected '.b8', a label or '}' after '{', got '.b9'"},
           {".section .debug_str { .b8 256 }", "line 4: a byte is at most 255, got 256"},
           {".file 1 \"a\n", "line 4: a text without its closing '\"'"},
           {"\n/* a\n", "line 5: a comment without its '*/'"},
           {".pragma 5;", "line 4: expected a text after '.pragma', got '5'"}})
    EXPECT_EQ(refusal(with_declarations(text)), message) << text;
}

TEST(Errors, OfValues) {
  for (const auto& [text, message] : std::vector<Wrong>{
           {".global .b8 x[2] = {1, 2, 3};", "line 4: more values than the variable holds"},
           {".global .b8 x[1][2] = {{1, 2, 3}};", "line 4: more values than the variable holds"},
           {".global .b8 x[2][1] = {{1}, {2}, {3}};",
            "line 4: more values than the variable holds"},
           {".global .b8 x[2] = {{1}};", "line 4: more braces than the variable has dimensions"},
           {".global .b8 x[2] = {1", "line 4: expected '}' after '1', got the end of the text"},
           {".global .b32 x = 1.5;", "line 4: a real number in a variable of integers"},
           {".global .u32 x = x;", "line 4: an address needs a variable of 64 bits"},
           {".global\n.u64 x = y;", "line 5: 'y' is declared nowhere"},
           {".global .u64 x = generic(y;", "line 4: expected ')' after 'y', got ';'"},
           {".global .u64 x = generic 5;", "line 4: expected '(' after 'generic', got '5'"},
           {".global .u64 x = \"a\";", "line 4: expected a number after '=', got 'a'"},
           {".shared .u32 x = 4;",
            "line 4: only .global and .const variables have values at first"},
           {".global .u32 x[100][1000000] = {{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}, "
            "{11}, {12}, {13}, {14}, {15}, {16}, {17}, {18}};",
            "line 4: an initial value of more than 67108864 bytes"},
           {".global .u32 x = 18446744073709551616;",
            "line 4: '18446744073709551616' is not a number of at most 64 bits"},
           {".global .u32 x = 0x;", "line 4: '0x' is not a number of at most 64 bits"},
           {".global .u32 x = 08;", "line 4: '08' is not a number of at most 64 bits"},
           {".global .u32 x = 12abc;", "line 4: '12abc' is not a number of at most 64 bits"},
           {".global .f32 x = 0f3F80;", "line 4: '0f3F80' is not a number of at most 64 bits"},
           {".global .f32 x = 0f3F80000G;",
            "line 4: '0f3F80000G' is not a number of at most 64 bits"},
           {".global .f32 x = 1.5x;", "line 4: '1.5x' is not a number of at most 64 bits"},
           {".global .u32 x = 1 / 0;", "line 4: a division by zero"},
           {".global .u32 x = 1 % (2 - 2);", "line 4: a division by zero"},
           {".global .f32 x = 1.5 + 1;", "line 4: '+' between real numbers"},
           {".global .f32 x = ~1.5;", "line 4: '~' of a real number"},
           {".global .u32 x = " + std::string(200, '-') + "1;",
            "line 4: an expression within too many others"},
           {".global .u32 x = (1;", "line 4: expected ')' after '1', got ';'"}})
    EXPECT_EQ(refusal(with_declarations(text)), message) << text;
}

TEST(Errors, OfStatements) {
  for (const auto& [text, message] : std::vector<Wrong>{
           {"mov.b32 %r1, %r2\nret;", "line 8: expected ';' after '%r2', got 'ret'"},
           {"\nmov.b32 %r1, %r9;", "line 8: '%r9' is declared nowhere"},
           {"mov.b32 %r1, %r01;", "line 7: '%r01' is declared nowhere"},
           {"mov.b32 %r1, %tidy;", "line 7: '%tidy' is declared nowhere"},
           {"mov.b32 %r1, table;", "line 7: 'table' is declared nowhere"},
           {"{ .reg .b32 t; } mov.b32 %r1, t;", "line 7: 't' is declared nowhere"},
           {"{ .param .b32 t; } st.param.b32 [t], 1;", "line 7: 't' is declared nowhere"},
           {".reg .b32 t, t;", "line 7: 't' is declared twice"},
           {".reg .b32 %r<3>;", "line 7: '%r' is declared twice"},
           {".reg .b32 t; .shared .b32 t;", "line 7: 't' is declared twice"},
           {".shared .b32 k_param_0;", "line 7: 'k_param_0' is declared twice"},
           {".reg .b32 t<9999999999>;",
            "line 7: a number of registers is at most 1073741824, got 9999999999"},
           {".reg .b32 t<3;", "line 7: expected '>' after '3', got ';'"},
           {".reg .v2 .b32 t;", "line 7: registers of vectors are not known here"},
           {".reg t;", "line 7: expected a type after '.reg', got 't'"},
           {".reg .b32 5;", "line 7: expected the name of a register after '.b32', got '5'"},
           {".global .b32 x;", "line 7: the directive '.global' is not known in a function"},
           {".maxntid 5;", "line 7: the directive '.maxntid' is not known in a function"},
           {"bra Nowhere;\n", "line 7: there is no label 'Nowhere'"},
           {"{ Inside: } bra Inside;", "line 7: there is no label 'Inside'"},
           {"list: .branchtargets A, B; A:", "line 7: there is no label 'B'"},
           {"A: ret; A: ret;", "line 7: the label 'A' stands here twice"},
           {"bra 5;", "line 7: expected a label after 'bra', got '5'"},
           {"brx.idx %r1, here;", "line 7: 'here' is no list of labels"},
           {"brx.idx %r1, %r2;", "line 7: '%r2' is no list of labels"},
           {"p: .callprototype _ (); mov.b32 %r1, p;", "line 7: 'p' is no operand"},
           {"call nothing;", "line 7: 'nothing' is no function"},
           {"call k_param_0;", "line 7: 'k_param_0' is no function"},
           {"call k, (), %r1;", "line 7: '%r1' is no prototype"},
           {"p: .callprototype _ (); call k, (), p, p;", "line 7: 'p' is no prototype"},
           {"call %rd1, ();", "line 7: a call of '%rd1' needs a prototype"},
           {"call %rd1;", "line 7: a call of '%rd1' needs a prototype"},
           {"call (%r1) k;", "line 7: expected ',' after ')', got 'k'"},
           {"@5 ret;", "line 7: expected an operand after '@', got '5'"},
           {"@%tid.x ret;", "line 7: '%tid' is no register"},
           {"@%p1 5;", "line 7: expected an instruction after '%p1', got '5'"},
           {"5;", "line 7: expected an instruction, a directive or '}' after ';', got '5'"},
           {"mov.b32 %r1, ;", "line 7: expected an operand after ',', got ';'"},
           {"mov.b32 %r1, !5;", "line 7: expected an operand after '!', got '5'"},
           {"mov.b32 {}, %r1;", "line 7: expected an element of a vector after '{', got '}'"},
           {"mov.b32 {%r1, {%r2}}, %r1;", "line 7: expected an operand after ',', got '{'"},
           {"mov.b32 {%r1, [%r2]}, %r1;", "line 7: expected an operand after ',', got '['"},
           {"mov.b32 {%r1; %r2}, %r1;", "line 7: expected '}' after '%r1', got ';'"},
           {"ld.b32 %r1, [%rd1;", "line 7: expected ']' after '%rd1', got ';'"},
           {"ld.b32 %r1, [_];", "line 7: '_' is no address"},
           {"ld.b32 %r1, [%tid.x];", "line 7: '%tid' is no address"},
           {"ld.b32 %r1, [%rd1+1.5];", "line 7: a real number where only an integer can stand"},
           {"ld.b32 %r1, [%rd1+%r2];", "line 7: expected a number after '+', got '%r2'"},
           {"vadd.s32.s32.s32 %r1, %r2.b0, %r3;",
            "line 7: parts of a register are not known here: '.b0'"},
           {".loc 1 2 3\nret;", "line 7: .loc names file 1, which no .file declares"},
           {".loc 1 2;", "line 7: expected a number after '2', got ';'"},
           {".loc 1 2 3, inside 4 5 6\n",
            "line 7: expected 'function_name' or 'inlined_at' after ',', got 'inside'"},
           {".pragma \"a\" }", "line 7: expected ';' after 'a', got '}'"},
           {"p: .callprototype 5;", "line 7: expected '_' after '.callprototype', got '5'"},
           {"}", "line 8: expected a directive after '}', got '}'"},
           {"{",
            "line 9: expected an instruction, a directive or '}' after '}', got the end of the "
            "text"}})
    EXPECT_EQ(refusal(with_body(text)), message) << text;
}

TEST(Errors, CountTheLinesOfWhatIsSkipped) {
  EXPECT_EQ(refusal(with_declarations("/* a\n\n */ .section .debug_x\n{\n{ }\n.b8 1\n}\n5")),
            "line 11: expected a directive after '}', got '5'");
}

TEST(Errors, AreOneSafeLine) {
  EXPECT_EQ(refusal("\x1b[2J"), "line 1: expected '.version', got '\\x1b'");
  EXPECT_EQ(refusal(std::string("\0", 1)), "line 1: expected '.version', got '\\x00'");
  EXPECT_EQ(refusal("\"a\tb\xff\""), "line 1: expected '.version', got 'a\\x09b\\xff'");
  EXPECT_EQ(refusal(std::string(100000, 'x')),
            "line 1: expected '.version', got '" + std::string(60, 'x') + "...'");
}

TEST(Errors, DeepBlocksAreNoDanger) {
  const std::string deep = std::string(200000, '{') + std::string(200000, '}');
  EXPECT_EQ(refusal(with_body(deep)), "read");
  EXPECT_EQ(refusal(with_body("mov.b32 " + std::string(200000, '{') + ";")),
            "line 7: expected an operand after '{', got '{'");
  EXPECT_EQ(refusal(with_body("mov.b32 %r1, [%r1," + std::string(200000, '[') + ";")),
            "line 7: expected an operand after ',', got '['");
}

}  // namespace
}  // namespace ptx::tests
