/**
 * Where the graph stands in the viewport, and where the callout goes. The graph keeps to the upper part; the callout
 * hangs below the active node, so that it covers neither that node nor leaves the viewport.
 */
import type { Box, Point, Size } from "../layout/geometry";
import { around, centre } from "../layout/geometry";

/** Screen = world times k plus (x, y), as in d3-zoom. */
export interface Camera extends Point {
  readonly k: number;
}

/** Where the graph may be seen; `top` is kept free for the controls above it. */
export interface Region extends Size {
  readonly top: number;
}

/** Below this the text of a card cannot be read: the camera then follows the active node instead. */
export const READABLE_SCALE = 0.72;
/** In projector mode: the numbers on a card are then over 28 px. */
export const PROJECTED_SCALE = 2.2;
const LARGEST_SCALE = 1.15;
const FOLLOWING_SCALE = 0.9;
const MARGIN_PX = 20;
/** Kept free right of the graph for the external gradient. */
const SEED_ROOM_PX = 116;
const FOLLOWING_MARGIN_PX = 6;
const CALLOUT_GAP_PX = 22;
const EDGE_PX = 10;
const TITLE_LINE_PX = 40;

/**
 * The whole content where it can be read, else the part around `focus` at reading size.
 * @param readable the least scale at which a card can be read where this is shown
 */
export function frame(content: Size, focus: Box | null, region: Region, readable = READABLE_SCALE): Camera {
  const width = content.width + SEED_ROOM_PX;
  const height = region.height - region.top;
  const tall = (height - 2 * MARGIN_PX) / content.height;
  const fit = Math.min(Math.max(LARGEST_SCALE, readable), (region.width - 2 * MARGIN_PX) / width, tall);
  const k = fit >= readable ? fit : Math.max(readable, Math.min(FOLLOWING_SCALE, tall));
  const focused = focus === null ? { x: content.width, y: content.height / 2 } : centre(focus);
  return {
    k,
    x: axis(width, focused.x, region.width, k),
    y: region.top + axis(content.height, focused.y, height, k),
  };
}

/** At the scale in use, around `focus`. */
export function pan(content: Size, focus: Box, region: Region, k: number): Camera {
  const focused = centre(focus);
  const height = region.height - region.top;
  return {
    k,
    x: axis(content.width + SEED_ROOM_PX, focused.x, region.width, k),
    y: region.top + axis(content.height, focused.y, height, k),
  };
}

/**
 * The camera of somebody who has come here step by step: it moves on only when a step's node is out of view. Where one
 * comes from makes no difference: a link shows what walking there shows.
 * @param boxAt the box of the nth step's node (0-based); null where it is nowhere on the stage
 * @returns the camera after so many steps; each is worked out once
 */
export function follower(
  content: Size,
  boxAt: (index: number) => Box | null,
  region: Region,
  readable: number | undefined,
): (walked: number) => Camera {
  const still = frame(content, null, region, readable);
  const cameras: Camera[] = [still];
  return (walked) => {
    for (let index = cameras.length - 1; index < walked; index += 1) {
      const last = cameras[index] ?? still;
      const box = boxAt(index);
      const camera = last === still && box !== null ? frame(content, box, region, readable) : last;
      cameras.push(
        box === null || isInView(box, camera, region, FOLLOWING_MARGIN_PX)
          ? camera
          : pan(content, box, region, camera.k),
      );
    }
    return cameras[Math.max(0, walked)] ?? still;
  };
}

/**
 * So that `boxes` are in view, from farther away where that helps and they stay readable; or at least the first of them.
 * @param readable the least scale at which a card can be read where this is shown
 */
export function keepInView(
  content: Size,
  boxes: readonly Box[],
  region: Region,
  camera: Camera,
  readable = READABLE_SCALE,
): Camera {
  const [first] = boxes;
  if (first === undefined) return camera;
  const all = around(boxes);
  const across = (region.width - 2 * FOLLOWING_MARGIN_PX) / all.width;
  const down = (region.height - region.top - 2 * FOLLOWING_MARGIN_PX) / all.height;
  const k = Math.min(camera.k, across, down);
  if (k < Math.min(camera.k, readable)) {
    return isInView(first, camera, region, FOLLOWING_MARGIN_PX)
      ? camera
      : pan(content, first, region, camera.k);
  }
  if (k === camera.k && isInView(all, camera, region, FOLLOWING_MARGIN_PX)) return camera;
  return pan(content, all, region, k);
}

/** Centred where it fits; else around the focus, without showing more than a margin of nothing. */
function axis(content: number, focus: number, region: number, k: number): number {
  const slack = region - content * k;
  if (slack >= 2 * MARGIN_PX) return slack / 2;
  const centred = region / 2 - focus * k;
  return Math.min(MARGIN_PX, Math.max(centred, slack - MARGIN_PX));
}

/** Whether a box lies wholly in a region under a camera. */
export function isInView(box: Box, camera: Camera, region: Region, margin = MARGIN_PX): boolean {
  const on = project(box, camera);
  return (
    on.x >= margin - 1 &&
    on.y >= region.top + margin - 1 &&
    on.x + on.width <= region.width - margin + 1 &&
    on.y + on.height <= region.height - margin + 1
  );
}

export function project(box: Box, camera: Camera): Box {
  return {
    x: box.x * camera.k + camera.x,
    y: box.y * camera.k + camera.y,
    width: box.width * camera.k,
    height: box.height * camera.k,
  };
}

/**
 * A part of the world somewhat larger than what is seen, on a grid of about a quarter of it: the same object's numbers
 * for most frames of a movement, also of one that zooms.
 */
export function roundedView(camera: Camera, viewport: Size): Box {
  const [width, height] = [viewport.width / camera.k, viewport.height / camera.k];
  const step = 2 ** Math.ceil(Math.log2(Math.max(1, width / 4)));
  const down = (value: number): number => Math.floor(value / step) * step - step;
  const up = (value: number): number => Math.ceil(value / step) * step + step;
  const x = down(-camera.x / camera.k);
  const y = down(-camera.y / camera.k);
  return { x, y, width: up(width - camera.x / camera.k) - x, height: up(height - camera.y / camera.k) - y };
}

export interface CalloutPlace extends Point {
  /** The pointer's place along the callout's upper edge, from its left. */
  readonly pointer: number;
  /** Length of the line between the callout and the node. */
  readonly stem: number;
  /** `over`: there is no room for the equation but on top of the graph. */
  readonly side: "below" | "above" | "over";
}

/**
 * Below the active node; as far as the viewport allows also below every other card, else at least below those that
 * take part.
 * @param active the active node's box on screen
 * @param neighbours boxes on screen of the nodes that take part
 * @param others all boxes on screen
 * @param needed the least height that is of use; 0 where any will do
 */
export function placeCallout(
  active: Box,
  neighbours: readonly Box[],
  others: readonly Box[],
  size: Size,
  viewport: Size,
  needed = 0,
): CalloutPlace {
  const x = clamp(centre(active).x - size.width / 2, EDGE_PX, viewport.width - size.width - EDGE_PX);
  const pointer = clamp(centre(active).x - x, 28, size.width - 28);
  const lowest = viewport.height - size.height - EDGE_PX;
  const own = active.y + active.height + CALLOUT_GAP_PX;
  const above = active.y - CALLOUT_GAP_PX - size.height;
  if (own > lowest && above >= EDGE_PX) return { x, y: above, pointer, stem: CALLOUT_GAP_PX, side: "above" };
  if (own + needed + EDGE_PX > viewport.height) {
    const y = Math.max(EDGE_PX, viewport.height - needed - EDGE_PX);
    // A card is covered as a whole or not in its first line.
    return { x, y: y < active.y + TITLE_LINE_PX ? EDGE_PX : y, pointer, stem: 0, side: "over" };
  }
  const under = (boxes: readonly Box[]): number =>
    Math.max(own, ...boxes.filter((box) => box.x < x + size.width && box.x + box.width > x).map(belowOf));
  const wanted = [under(others), under(neighbours)].find((y) => y <= lowest) ?? Math.max(own, lowest);
  return { x, y: wanted, pointer, stem: wanted - own + CALLOUT_GAP_PX, side: "below" };
}

function belowOf(box: Box): number {
  return box.y + box.height + CALLOUT_GAP_PX;
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(value, Math.max(low, high)));
}

/** Like overlapping, but a straight line, which has no area, counts too. */
export function touches(a: Box, b: Box): boolean {
  return a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height;
}
