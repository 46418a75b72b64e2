import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PHASES } from "../model/phases";
import { parsePosition, START } from "../model/position";
import { DIGITS, THEMES } from "../render/options";
import { VIEWS } from "../scene/views";
import type { Nested } from "../stream/client";
import { type Address, EMPTY_ADDRESS, FONT_SCALES, readAddress, writeAddress } from "./address";

const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const real = fc.oneof(number, fc.constantFrom("NaN", "Infinity", "-Infinity"));
const nested: fc.Arbitrary<Nested> = fc.oneof(
  real,
  fc.array(real, { maxLength: 4 }),
  fc.array(fc.array(real, { maxLength: 3 }), { maxLength: 3 }),
);
const described = fc.record(
  { value: nested, requires_grad: fc.boolean(), dtype: fc.constantFrom("float64", "complex64") },
  { requiredKeys: ["value"], noNullPrototype: true },
);
const position = fc.oneof(
  ...(["backward", "forward"] as const).map((direction) => {
    const [step, phase] = [fc.integer({ min: 1, max: 99_999 }), fc.constantFrom(...PHASES[direction])];
    return fc.record({ direction: fc.constant(direction), step, phase });
  }),
  fc.constant(START),
);
/** Whole characters only: a lone surrogate is not text that UTF-8 or the server could carry. */
const source = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("y = sin(x)\n".repeat(40), "# ∂y/∂x 🎈 = 1"),
);
const name = fc.string({ minLength: 1 }).filter((text) => text !== "__proto__");

const states: fc.Arbitrary<Address> = fc.record({
  source: fc.option(source, { nil: null }),
  example: fc.constant(null),
  inputs: fc.dictionary(name, fc.oneof(nested, described), { maxKeys: 4, noNullPrototype: true }),
  gradOutput: fc.option(nested, { nil: null }),
  seed: fc.maxSafeNat(),
  pass: fc.option(fc.nat(), { nil: null }),
  position: fc.option(position, { nil: null }),
  chain: fc.constantFrom(null, "", "n9..n2", "n9.1..n2-g0-r_1-*"),
  nudge: fc.option(
    fc.record(
      { entry: fc.constantFrom("x", "W[1][0]", "model.0.weight[2]", "名:1"), by: number },
      { noNullPrototype: true },
    ),
    { nil: null },
  ),
  view: fc.record(
    {
      theme: fc.constantFrom(...THEMES.filter((theme) => theme !== "auto")),
      digits: fc.integer(DIGITS).filter((digits) => digits !== 4),
      fontScale: fc.constantFrom(...FONT_SCALES.filter((scale) => scale !== 1)),
      projector: fc.constant(true),
      predict: fc.constant(true),
      compare: fc.constant(false),
      product: fc.constantFrom(...VIEWS),
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
});

describe("the address", () => {
  it("gives back any state as it was", async () => {
    await fc.assert(
      fc.asyncProperty(states, async (state) => {
        expect(await readAddress(`#${await writeAddress(state)}`)).toEqual({ address: state, trouble: null });
      }),
      { numRuns: 120 },
    );
  });

  it("takes hashes of any kind: nothing but defaults and a sentence where it cannot be read", async () => {
    const keys = "v c code i g s seed theme digits font projector predict byhand nudge".split(" ");
    const key = fc.oneof(fc.constantFrom(...keys), fc.string());
    const number = fc.double().map(String);
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.json(), number, fc.base64String());
    const pairs = fc.array(fc.tuple(key, text), { maxLength: 6 });
    const hash = fc.oneof(
      fc.string(),
      pairs.map((each) => new URLSearchParams(each).toString()),
    );
    await fc.assert(
      fc.asyncProperty(hash, async (state) => {
        const { address, trouble } = await readAddress(`#${state}`);
        expect(Object.keys(address).sort()).toEqual(Object.keys(EMPTY_ADDRESS).sort());
        expect(trouble ?? "This link is damaged: ").toMatch(/^This link is damaged: /);
        expect(address.view.theme ?? "auto").toBeOneOf([...THEMES]);
        // what was read can be written, and read again
        const written = await writeAddress(address);
        expect(await writeAddress((await readAddress(`#${written}`)).address)).toBe(written);
      }),
      { numRuns: 500 },
    );
  });

  it("takes a program written by hand or packed by another deflate, and passes over keys it does not know", async () => {
    const packed = deflateRawSync("x*y").toString("base64url");
    for (const program of ["code=x*y", `c=${packed}`])
      expect(await readAddress(`#v=1&${program}&utm_source=mail&s=2.3`)).toEqual({
        address: { ...EMPTY_ADDRESS, source: "x*y", position: parsePosition("2.3") },
        trouble: null,
      });
  });

  it.each([
    ["c=@@@", "the program"],
    ["c=AAAA", "the program"],
    ["i=[1]", "the inputs"],
    ['i={"x":"two"}', "the inputs"],
    ["g=null", "the external gradient"],
    [`g=${"[".repeat(300)}`, "the external gradient"],
    ["seed=-1", "the seed"],
    ["s=7.9", "the step"],
    ["nudge=x:much", "the nudge"],
    ["theme=pink", "the theme"],
    ["lang=tlh", "the language"],
    ["v=2", "its version (2)"],
  ])("says what in %s is damaged", async (hash, what) => {
    const { trouble } = await readAddress(`#${hash}`);
    expect(trouble).toBe(`This link is damaged: ${what} could not be read.`);
  });

  it("does not inflate a bomb", async () => {
    const bomb = deflateRawSync(Buffer.alloc(50_000_000, 32), { level: 9 }).toString("base64url");
    expect((await readAddress(`#c=${bomb}`)).trouble).toContain("the program");
  });
});
