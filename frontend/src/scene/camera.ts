/**
 * Where the graph stands in its viewport: the whole of it where it can be read, else whole at first and then round the
 * node at work. All of it follows from the layout, the steps walked and the size of the viewport.
 */
import type { Box, Point, Size } from "../layout/geometry";
import { around, between, centre } from "../layout/geometry";

/** Screen = world times k plus (x, y). */
export interface Camera extends Point {
  readonly k: number;
}

/** Where the graph may be seen; `top` is kept free for the controls above it. */
export interface Region extends Size {
  readonly top: number;
}

/** Below this a card cannot be read as it stands; a walk through a graph that is too large for it keeps to it. */
export const READABLE_SCALE = 0.72;
/** In projector mode: the numbers on a card are then over 28 px, */
export const PROJECTED_SCALE = 2.25;
/** where ten rem are so long; in a picture of fewer pixels they are shorter. */
export const PROJECTED_TEN_REM_PX = 272;
/** Of the readable scale: cards that write less, in letters that keep their size, are read down to here. */
const IN_BRIEF = 0.45;
const LARGEST_SCALE = 1.15;
const MARGIN_PX = 14;
/** Kept free right of the graph for the external gradient. */
export const SEED_ROOM_PX = 116;
const FOLLOWING_MARGIN_PX = 6;

/**
 * How much a card tells: all of it; in brief, in letters that keep their size on screen; its title; nothing, a mark of
 * its place.
 */
export type Detail = "full" | "brief" | "titles" | "far";
/** Below this a card has room for its title at most, */
const CARDS_FROM_SCALE = 0.32;
/** and below this for nothing. */
const TITLES_FROM_SCALE = 0.15;
/** Of a card's own letters, as wide as its box allows. */
const LETTERS_PX = 16.7;
/** Larger where cards are, in a large window; */
const LETTERS_PER_SCALE = 27;
const MOST_LETTERS_PX = 21;
const LARGEST_LETTERS_PX = 28.4;

export function detailAt(k: number, readable = READABLE_SCALE): Detail {
  if (k < CARDS_FROM_SCALE) return k < TITLES_FROM_SCALE ? "far" : "titles";
  return k < readable - 0.01 ? "brief" : "full";
}

/** The size of letters in brief, in the world's own pixels. */
export function lettersAt(k: number, readable = READABLE_SCALE): number {
  const own = Math.min(MOST_LETTERS_PX, Math.max(LETTERS_PX, (LETTERS_PER_SCALE * k) / readable));
  return Math.round((10 * Math.min(LARGEST_LETTERS_PX, own * readable)) / k) / 10;
}

/** And of the smallest ones, where a line is longer than its box is wide. */
export function smallestAt(k: number, readable = READABLE_SCALE): number {
  return (0.75 * LETTERS_PX * readable) / k;
}

/** The least scale at which cards in brief can be read. */
function legibleScale(readable = READABLE_SCALE): number {
  return readable * IN_BRIEF;
}

/** How large a region must be for the whole of so large a graph to be read. */
export function sizeToRead({ width, height }: Size, readable = READABLE_SCALE): Size {
  const read = (content: number): number => content * legibleScale(readable) + 2 * MARGIN_PX;
  return { width: read(width + SEED_ROOM_PX), height: read(height) };
}

/** How wide a graph may be for its cards to tell something where all of it is shown so wide. */
export function widestToTell(width: number): number {
  return (width - 2 * MARGIN_PX) / CARDS_FROM_SCALE - SEED_ROOM_PX;
}

/** The whole graph, however small that makes it. */
export function whole(content: Size, region: Region, readable = READABLE_SCALE): Camera {
  const width = content.width + SEED_ROOM_PX;
  const height = region.height - region.top;
  const k = Math.min(
    Math.max(LARGEST_SCALE, readable),
    Math.max(1, region.width - 2 * MARGIN_PX) / width,
    Math.max(1, height - 2 * MARGIN_PX) / content.height,
  );
  return { k, x: (region.width - width * k) / 2, y: region.top + (height - content.height * k) / 2 };
}

/** What of the world is seen in a region. */
export function groundOf({ width, height, top }: Region, { x, y, k }: Camera): Box {
  return { x: -x / k, y: (top - y) / k, width: width / k, height: (height - top) / k };
}

/** At a scale, around `focus`. */
export function pan(content: Size, focus: Box, region: Region, k: number): Camera {
  const focused = centre(focus);
  const height = region.height - region.top;
  return {
    k,
    x: axis(content.width + SEED_ROOM_PX, focused.x, region.width, k),
    y: region.top + axis(content.height, focused.y, height, k),
  };
}

/** A camera on its way, and what it follows, which follows the place where both are to come to rest. */
export type Flight = readonly [camera: Camera, led: Camera];

const FOLLOWING_MS = 35;
const NEAR_PX = 0.25;

/** Slow at both ends, without a jerk where `to` is another place than a moment before; is at it after some 0.3 s. */
export function fly([camera, led]: Flight, to: Camera, elapsed_ms: number): Flight {
  const share = 1 - Math.exp(-elapsed_ms / FOLLOWING_MS);
  const next = towards(led, to, share);
  const moved = towards(camera, next, share);
  return Math.hypot(moved.x - to.x, moved.y - to.y) < NEAR_PX ? [to, to] : [moved, next];
}

function towards(from: Camera, to: Camera, share: number): Camera {
  return { ...between(from, to, share), k: from.k + (to.k - from.k) * share };
}

/**
 * The camera of somebody who has come here step by step. A graph that can be read whole stands still; in a larger one
 * the walk begins with the whole, and moves on only when a step's node is out of view. Where one comes from makes no
 * difference: a link shows what walking there shows.
 * @param boxAt the box of the nth step's node (0-based); null where it is nowhere on the stage
 * @param readable the least scale at which a card can be read where this is shown
 * @returns the camera after so many steps; each is worked out once
 */
export function follower(
  content: Size,
  boxAt: (index: number) => Box | null,
  region: Region,
  readable = READABLE_SCALE,
): (walked: number) => Camera {
  const all = whole(content, region, readable);
  if (all.k >= legibleScale(readable)) return () => all;
  const cameras: Camera[] = [all];
  return (walked) => {
    for (let index = cameras.length - 1; index < walked; index += 1) {
      const last = cameras[index] ?? all;
      const box = boxAt(index);
      const isThere = box === null || (last !== all && isInView(box, last, region, FOLLOWING_MARGIN_PX));
      cameras.push(isThere ? last : pan(content, box, region, readable));
    }
    return cameras[Math.max(0, walked)] ?? all;
  };
}

/**
 * So that `boxes` are in view, from farther away where that helps and they stay legible; or at least the first of them.
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
  if (k < Math.min(camera.k, legibleScale(readable))) {
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

/** Like overlapping, but a straight line, which has no area, counts too. */
export function touches(a: Box, b: Box): boolean {
  return a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height;
}
