import { describe, expect, it } from "vitest";
import type { Camera } from "./camera";
import { isInView, keepInView, READABLE_SCALE } from "./camera";

const REGION = { width: 800, height: 240, top: 40 };
const CONTENT = { width: 600, height: 260 };
const CAMERA: Camera = { x: 20, y: 40, k: 1 };
const node = { x: 400, y: 80, width: 140, height: 90 };
const operands = [
  { x: 0, y: 0, width: 140, height: 90 },
  { x: 0, y: 160, width: 140, height: 90 },
];

describe("keeping what takes part in view", () => {
  it("moves nothing where all of it is seen", () => {
    expect(keepInView(CONTENT, [node], REGION, CAMERA)).toBe(CAMERA);
  });

  it("goes farther away where all of it can still be read from there", () => {
    const camera = keepInView(CONTENT, [node, ...operands], REGION, CAMERA);
    expect(camera.k).toBeLessThan(1);
    expect(camera.k).toBeGreaterThanOrEqual(READABLE_SCALE);
    for (const box of [node, ...operands]) expect(isInView(box, camera, REGION, 6)).toBe(true);
  });

  it("keeps to the node itself, at the same scale, where cards would get too small to read", () => {
    const far = { x: 0, y: 600, width: 140, height: 90 };
    const camera = keepInView({ width: 600, height: 700 }, [node, far], REGION, CAMERA);
    expect(camera.k).toBe(1);
    expect(isInView(node, camera, REGION, 6)).toBe(true);
  });
});
