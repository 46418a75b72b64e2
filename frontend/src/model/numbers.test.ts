import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Thumbnail } from "../protocol/trace.gen";
import { upgradeFirstFormat } from "../protocol/upgrade";
import { pictureOf } from "./matrix";
import { formatBytes, formatCount, formatNumber } from "./numbers";

describe("numbers", () => {
  it.each([
    [0, "0"],
    [-0, "0"],
    [-35.7654321, "−35.77"],
    [2.5e-7, "2.5·10⁻⁷"],
    [0.00012345, "0.0001234"],
    [9.99999, "10"],
    [1234567, "1234567"],
    [12345678.9, "1.235·10⁷"],
    [1e21, "1·10²¹"],
    [123456.78, "123457"],
    ["NaN", "NaN"],
    ["Infinity", "∞"],
    ["-Infinity", "−∞"],
    [true, "True"],
    [[1, -2.5], "1−2.5i"],
    [[0, "Infinity"], "0+∞i"],
  ] as const)("writes %j as %s", (cell, text) => {
    expect(formatNumber(typeof cell === "object" ? [...cell] : cell)).toBe(text);
  });

  it("is never off by more than half a unit of its last digit", () => {
    const values = fc.float({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 9 }), (value, digits) => {
        const read = readBack(formatNumber(value, digits));
        expect(Math.abs(read - value)).toBeLessThanOrEqual(Math.abs(value) * 0.5001 * 10 ** (1 - digits));
        expect(Object.is(Math.sign(read), Math.sign(value)) || read === 0).toBe(true);
      }),
    );
  });

  it("counts bytes as memory is sold", () => {
    expect([24, 400_000, 100_000 * 100_000 * 4].map(formatBytes)).toEqual(["24 B", "400 kB", "37.3 GiB"]);
    expect(formatCount(100000)).toBe("100\u202f000");
  });
});

describe("a picture of a large value", () => {
  it("has cells relative to the largest, and says which were no numbers", () => {
    const cells = Buffer.from([126, 0, 0x82, 1, 127, 0x81, 0x80, 63]).toString("base64");
    expect(pictureOf({ shape: [2, 4], cells })).toEqual({
      rows: 2,
      columns: 4,
      cells: [126, 0, -126, 1, "Infinity", "-Infinity", "NaN", 63],
    });
  });

  it("is drawn of decimals in traces of format 1", () => {
    const thumbnail = { shape: [6], data: [-4, 2, 0, 1e-9, "NaN", "-Infinity"] };
    const upgraded = upgradeFirstFormat({ thumbnail }) as { thumbnail: Thumbnail };
    expect(pictureOf(upgraded.thumbnail).cells).toEqual([-126, 63, 0, 1, "NaN", "-Infinity"]);
  });
});

function readBack(text: string): number {
  const digits = [...text].map((character) => {
    const power = "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(character);
    return power >= 0 ? String(power) : character.replace("−", "-").replace("⁻", "-");
  });
  return Number(digits.join("").replace("·10", "e"));
}
