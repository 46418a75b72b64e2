import { describe, expect, it } from "vitest";
import type { Thumbnail } from "../protocol/trace.gen";
import { upgradeFirstFormat } from "../protocol/upgrade";
import { pictureOf } from "./matrix";

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
