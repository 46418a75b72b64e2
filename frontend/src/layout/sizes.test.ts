import { describe, expect, it } from "vitest";
import { emptyTrace, foldEvents } from "../model/trace";
import { readSample, TRACES } from "../protocol/samples";
import { pictureKey } from "./sizes";

describe.each(TRACES)("%s", (name) => {
  it("looks the same before its values have come", () => {
    const whole = foldEvents(emptyTrace(), readSample(name).events);
    const bare = foldEvents(
      emptyTrace(),
      readSample(name).events.filter(({ type }) => type !== "forward" && type !== "explained"),
    );
    expect(whole.passes.length).toBe(bare.passes.length);
    whole.passes.forEach((pass, at) => {
      const other = bare.passes[at];
      if (other !== undefined) expect(pictureKey(other.started.graph)).toBe(pictureKey(pass.started.graph));
    });
  });
});
