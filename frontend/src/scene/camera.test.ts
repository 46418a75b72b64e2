import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Camera, type Flight, fly, follower, isInView, keepInView, roundedView } from "./camera";

const REGION = { width: 800, height: 240, top: 40 };
const CAMERA: Camera = { x: 20, y: 40, k: 1 };
const node = { x: 400, y: 80, width: 140, height: 90 };

it("keeps to the node itself, at the same scale, where cards would get too small to read", () => {
  const far = { x: 0, y: 600, width: 140, height: 90 };
  const camera = keepInView({ width: 600, height: 700 }, [node, far], REGION, CAMERA);
  expect(camera.k).toBe(1);
  expect(isInView(node, camera, REGION, 6)).toBe(true);
});

const LONG = { width: 40_000, height: 900 };
const SCREEN = { width: 1200, height: 500, top: 40 };
const boxAt = (index: number) =>
  index % 7 === 3 ? null : { x: (index * 911) % LONG.width, y: (index * 53) % 800, width: 160, height: 90 };

it("has each step's node in view, whichever step was asked for before", () => {
  const walked = follower(LONG, boxAt, SCREEN);
  const cameras = Array.from({ length: 60 }, (_, count) => walked(count));
  for (const count of [59, 30, 12, 31]) {
    expect(walked(count)).toEqual(cameras[count]);
    expect(follower(LONG, boxAt, SCREEN)(count)).toEqual(cameras[count]);
  }
  for (const [count, camera] of cameras.slice(1).entries()) {
    const box = boxAt(count);
    if (box !== null) expect(isInView(box, camera, SCREEN, 6)).toBe(true);
  }
});

it("is near a place that moves, and at it as soon as it rests", () => {
  const rest = { x: 3000, y: 0, k: 1 };
  let flight: Flight = [CAMERA, CAMERA];
  for (let x = 0; x < rest.x; x += 50) flight = fly(flight, { ...rest, x }, 16);
  expect(Math.abs(rest.x - flight[0].x)).toBeLessThan(300);
  for (let frame = 0; frame < 30; frame += 1) flight = fly(flight, rest, 16);
  expect(flight[0]).toBe(rest);
});

describe("the rounded view", () => {
  const place = fc.double({ min: -1e5, max: 1e5, noNaN: true });
  const cameras = fc.record({ x: place, y: place, k: fc.double({ min: 0.05, max: 3, noNaN: true }) });
  const viewport = { width: 1280, height: 700 };

  it("holds all that is seen, and at most some times as much", () => {
    fc.assert(
      fc.property(cameras, (camera) => {
        const view = roundedView(camera, viewport);
        const [left, top] = [-camera.x / camera.k, -camera.y / camera.k];
        const [width, height] = [viewport.width / camera.k, viewport.height / camera.k];
        expect(view.x).toBeLessThanOrEqual(left);
        expect(view.y).toBeLessThanOrEqual(top);
        expect(view.x + view.width).toBeGreaterThanOrEqual(left + width);
        expect(view.y + view.height).toBeGreaterThanOrEqual(top + height);
        expect(view.width).toBeLessThanOrEqual(3 * width + 1);
      }),
    );
  });

  it("stays the same for most of a zoom", () => {
    const views = Array.from({ length: 60 }, (_, frame) =>
      JSON.stringify(roundedView({ x: -3000, y: -200, k: 1 - frame / 200 }, viewport)),
    );
    expect(new Set(views).size).toBeLessThan(20);
  });
});
