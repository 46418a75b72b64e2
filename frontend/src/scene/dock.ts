/** Where the equation stands: a place of its own beside or below the graph, of one size for all steps of a program. */
import type { Box, Size } from "../layout/geometry";
import { around } from "../layout/geometry";
import { type Layout, standing } from "../layout/place";
import { type Camera, project, type Region } from "./camera";
import type { CalloutScene } from "./equation";
import type { Shape } from "./shapes";

export interface Dock {
  readonly side: "below" | "beside";
  /** Of the stage, from 0 to 1, until a person draws the border elsewhere. */
  readonly share: number;
}

/** Narrower than this, what stands above the graph makes itself small. */
export const NARROW_PX = 620;
const LOW_PX = 380;
/** So much wider than high, a box has no room for two things below each other, however narrow it is. */
const FLAT = 2;
/** What a window of 1600 px leaves beside the program: room for the graph and, beside it, an equation. */
const ROOMY_PX = 1170;
/** So wide, the equation keeps its large type. */
const COLUMN_PX = 626;
/** Here a product of three numbers just stands in one line. */
const TIGHT_PX = 760;
/** Sentence, title, rule, product and its sum. */
const EQUATION_PX = 434;
/** The same where a product stands in two lines. */
const EQUATION_IN_TWO_PX = 484;
/** With its tools above and the queue below, a lower map has no room for a card. */
const LEAST_MAP_PX = 130;
/** Times what a graph needs to be read at all: so much room is enough, and so much more of it is worth a dock below. */
const EASY = 1.5;
const LARGER = 1.4;
/** What is said to an answer. */
export const LESSON_PX = 58;
const NOTHING: Size = { width: 0, height: 0 };

/**
 * The one rule of page and files.
 * @param scale of all type, 1 but in a lecture hall and in files
 * @param needed by the program's graph, to be read whole: the dock stands where it does not take that from it
 * @param besides the equation, what a dock below the graph has room for
 */
export function dockOf({ width, height }: Size, scale = 1, needed: Size = NOTHING, besides = 0): Dock {
  if (height < LOW_PX && (width >= NARROW_PX || width > FLAT * height))
    return { side: "beside", share: width >= NARROW_PX && width < TIGHT_PX ? 0.69 : 0.64 };
  if (width < NARROW_PX)
    return {
      side: "below",
      share: Math.min(0.75, (EQUATION_IN_TWO_PX * scale) / height, 1 - LEAST_MAP_PX / height),
    };
  const share = Math.max(0.46, (COLUMN_PX * scale) / width);
  const below = Math.min(0.61, Math.max(0.44, (EQUATION_PX * scale) / height)) + (besides * scale) / height;
  const room = (width * (1 - share)) / needed.width;
  const roomAbove = Math.min(width / needed.width, (height * (1 - below)) / needed.height);
  const takesTooMuch = room < EASY && roomAbove > Math.max(1, LARGER * room);
  if (width >= ROOMY_PX * scale && !takesTooMuch) return { side: "beside", share };
  if (width > FLAT * height) return { side: "beside", share: 0.46 };
  const isTall = height * (1 - below) < needed.height && needed.width <= width - NARROW_PX;
  return isTall ? { side: "beside", share: NARROW_PX / width } : { side: "below", share: below };
}

/** Between the graph and the lane in which the line to a dock beside it runs. */
const LANE_PX = 10;
/** Of a card's width, where the line may leave it: at the middle, unless another card is in the way there only. */
const WAYS_OUT = [0.5, 0.25, 0.75, 0.06, 0.94] as const;

/**
 * The line from the node at work to the dock, on screen: straight down to a dock below; to one beside the graph first
 * down and then along below all cards, as these stand side by side.
 * @param region where the graph may be seen; what is below it is the map's as well
 */
export function tieOf(
  side: Dock["side"],
  node: Box,
  layout: Layout,
  camera: Camera,
  region: Region,
  map: Size,
): readonly [Box, ...Box[]] {
  const card = project(node, camera);
  const from = card.y + card.height;
  const boxes = standing(layout).map((box) => project(box, camera));
  const below = boxes.filter((box) => box.y >= from && box.y < map.height);
  const isFree = (x: number): boolean => below.every((box) => x < box.x || x > box.x + box.width);
  const ways = WAYS_OUT.map((share) => card.x + card.width * share);
  const x = ways.find(isFree) ?? card.x + card.width / 2;
  const down = (to: number): Box => ({ x, y: from, width: 0, height: Math.max(0, to - from) });
  if (side === "below") return [down(map.height)];
  const all = around([...boxes, ...[...layout.groups.values()].map((box) => project(box, camera))]);
  const lane = Math.max(from, Math.min(all.y + all.height + LANE_PX, region.height - LANE_PX));
  return [down(lane), { x, y: lane, width: Math.max(0, map.width - x), height: 0 }];
}

const TIE_PX = 2;

/** What is seen of a graph, and where its dock is. */
export interface Seen {
  readonly side: Dock["side"];
  readonly layout: Layout;
  readonly camera: Camera;
  readonly region: Region;
  readonly map: Size;
}

/** The same, in the graph's own coordinates: under its cards, so that it crosses no text. */
export function drawTie(callout: CalloutScene | null, node: Box | null, seen: Seen): readonly Shape[] {
  const { side, layout, camera, region, map } = seen;
  if (callout === null || node === null || map.width === 0) return [];
  const { x, y, k } = camera;
  const thick = (length: number): number => Math.max(TIE_PX, length) / k;
  return tieOf(side, node, layout, camera, region, map).map((line) => ({
    kind: "rect",
    box: { x: (line.x - x) / k, y: (line.y - y) / k, width: thick(line.width), height: thick(line.height) },
    fill: TIE_INKS[callout.kind],
  }));
}

const TIE_INKS = { vjp: "gradient", accumulate: "accumulated", forward: "forward" } as const;
