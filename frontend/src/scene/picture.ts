/** One stop as a picture: the graph, the dock and the line between them, as a list of shapes. No DOM, no clock. */
import type { Box, Size } from "../layout/geometry";
import type { Layout } from "../layout/place";
import { closedGroups, readAsCalls } from "../model/calls";
import { knownInMotion } from "../model/mask";
import { DEFAULT_PRECISION } from "../model/numbers";
import { type Position, previousPhase, stepCount, stopsOfStep } from "../model/position";
import { comingIn } from "../model/queue";
import { walkAt } from "../model/selectors";
import type { TraceState } from "../model/trace";
import { noGrads } from "../words/nograds";
import { phaseName } from "../words/phases";
import { label, textOf } from "../words/say";
import { saidAt } from "../words/sentences";
import { detailAt, follower, groundOf, lettersAt, type Region, sizeToRead } from "./camera";
import { type Dock, dockOf, drawTie } from "./dock";
import { drawDock, type Opening, TYPE_SCALE } from "./dockpicture";
import { drawCallout } from "./equation";
import { V_CAPTION } from "./form";
import { lossOnTop } from "./loss";
import { drawMap } from "./map";
import type { Shape } from "./shapes";
import { shotAt } from "./shot";
import { boxOf, drawStill, type Still } from "./still";

export interface PictureView {
  readonly trace: TraceState;
  readonly position: Position;
  /** 0 to 1, of the motion that leads into the stop. */
  readonly progress: number;
  readonly layout: Layout;
  readonly size: Size;
  /** Nothing is painted under the graph. */
  readonly isTransparent: boolean;
}

const MARGIN = 24;
/** At this scale the letters of a whole card have some 10 px, and those of one in brief have no fewer. */
const READ_FROM_AFAR = 0.8;
const SMALLEST_PX = 10;

export function drawPicture(view: PictureView): readonly Shape[] {
  const { trace, position, progress, layout, size } = view;
  /** What a motion makes is written when the motion is over; the equation makes it entry by entry. */
  const known = progress < 1 ? knownInMotion(trace, position) : trace;
  const still = drawStill(known, position);
  const isOpen: IsOpen = (group) => layout.groups.get(group)?.open === true;
  const read = readAsCalls(trace, isOpen);
  const callout = drawCallout(read, position);
  const split = dockOf(size, TYPE_SCALE, sizeToRead(layout));
  const { map, dock } = placesOf(size, split);
  const region: Region = { width: map.width, height: map.height, top: 0 };
  const walk = walkAt(trace, position);
  const { graph } = still;
  const boxAt = (index: number): Box | null =>
    graph === null ? null : boxOf(graph, layout, walk.nodes[index] ?? "");
  const camera = shotAt(still, layout, region, follower(layout, boxAt, region)(walk.walked));
  const active = graph === null || still.node === null ? null : boxOf(graph, layout, still.node.id);
  const tie = drawTie(callout, active, { side: split.side, layout, camera, region, map });

  const look = {
    direction: position.direction,
    precision: DEFAULT_PRECISION,
    detail: detailAt(camera.k, READ_FROM_AFAR),
    letters: lettersAt(camera.k),
    smallest: SMALLEST_PX / camera.k,
    ground: groundOf(region, camera),
  };
  const shapes = drawMap(still, layout, progress, look, tie);
  const ground: Shape = { kind: "rect", box: map, fill: "ground" };
  const world: Shape = { kind: "group", children: shapes, at: camera };
  return [
    ...(view.isTransparent ? [] : [ground]),
    {
      kind: "group",
      children: [world],
      at: { x: map.x, y: map.y, k: 1 },
      clip: { x: 0, y: 0, width: map.width, height: map.height },
    },
    ...drawDock(
      {
        callout,
        said: textOf(saidAt(read, position)),
        saidInStep: stopsOfStep(trace, position.direction, position.step).map((phase) =>
          textOf(saidAt(read, { ...position, phase })),
        ),
        // As on the page: what a motion leads to is said when it is over.
        saidBefore:
          progress < 1 ? textOf(saidAt(readAsCalls(known, isOpen), previousPhase(trace, position))) : null,
        place: placeOf(trace, position),
        opening: openingOf(trace, still, isOpen),
        progress,
        precision: DEFAULT_PRECISION,
      },
      dock,
    ),
  ];
}

/** The map fills its side up to the edges, the dock keeps a margin. */
function placesOf({ width, height }: Size, { side, share }: Dock): { readonly map: Box; readonly dock: Box } {
  if (side === "beside") {
    const across = Math.round(width * (1 - share));
    return {
      map: { x: 0, y: 0, width: across, height },
      dock: {
        x: across + MARGIN,
        y: MARGIN,
        width: width - across - 2 * MARGIN,
        height: height - 2 * MARGIN,
      },
    };
  }
  const down = Math.round(height * (1 - share));
  return {
    map: { x: 0, y: 0, width, height: down },
    dock: { x: MARGIN, y: down + MARGIN / 2, width: width - 2 * MARGIN, height: height - down - MARGIN },
  };
}

/** `Step 3 of 7, multiply`. */
function placeOf(trace: TraceState, position: Position): string {
  const { direction, step } = position;
  const isForward = direction === "forward";
  if (step === 0) return label(isForward ? "export-before-program" : "export-before-pass");
  const where = label(isForward ? "export-operation" : "export-step", {
    number: String(step),
    total: String(stepCount(trace, direction)),
  });
  return label("export-place", { where, phase: phaseName(position) });
}

/** What is told before v has entered. */
function openingOf(trace: TraceState, { position, pass, graph }: Still, isOpen: IsOpen): Opening {
  const isBefore = position.direction === "backward" && position.step === 0;
  if (!isBefore || pass === null || graph === null) return { seeds: [], loss: null, coming: [], without: [] };
  const { outputs } = pass.started;
  return {
    seeds: outputs.map(({ name, seed }) => ({
      caption: name === null || outputs.length === 1 ? V_CAPTION : `${V_CAPTION}, ${name}`,
      value: seed,
    })),
    loss: lossOnTop(trace, pass),
    coming: comingIn(trace, pass, closedGroups(graph, isOpen)),
    without: noGrads(trace).filter(({ isMissed }) => isMissed),
  };
}

type IsOpen = (group: string) => boolean;
