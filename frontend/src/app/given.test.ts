import { describe, expect, it } from "vitest";
import { codeOf } from "./given";

describe("what Python reads of a program", () => {
  it.each([
    ["x*y", "x * y"],
    ["x*y", "  x*y  \n".trimStart()],
    ["y = x * 2", "y = x*2  # twice\n\n"],
    ["y = x\nz = y", "#@ note first\r\ny = x\r\n\r\n   # then\r\nz = y\r\n"],
    ["if x:\n    y = x", "if x:\n\n    # inside\n    y  =  x"],
    ['print("a # b")', 'print( "a # b" ) # said'],
    ['"""\n# a\n\n"""\ny = x', '"""\n# a\n\n"""\n\ny = x # b'],
  ])("is the same of %j and %j", (one, other) => {
    expect(codeOf(one)).toBe(codeOf(other));
  });

  it.each([
    ["x*y", "x*y + x"],
    ["not x", "notx"],
    ["y = x", "y = x\ny"],
    ["if x:\n    y = x\n    z = x", "if x:\n    y = x\nz = x"],
    ['print("a # b")', 'print("a # c")'],
    ["print('a  b')", "print('a b')"],
    ['print("it\\"s # 1")', 'print("it\\"s # 2")'],
    ['"""\n# a\n"""', '"""\n# b\n"""'],
  ])("differs between %j and %j", (one, other) => {
    expect(codeOf(one)).not.toBe(codeOf(other));
  });
});
