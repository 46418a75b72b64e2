/** The picture: a function of trace, layout, position and progress. Play, seek, print and export all call this. */
import type { Layout } from "../layout/place";
import type { Position } from "../model/position";
import type { TraceState } from "../model/trace";
import type { CalloutScene } from "./equation";
import { drawCallout } from "./equation";
import type { CardScene, EdgeScene, GroupScene, Still } from "./still";
import { drawGroups, drawStill } from "./still";
import type { TokenScene } from "./tokens";
import { drawTokens } from "./tokens";

export interface Scene extends Omit<Still, "cardOf" | "edgeOf"> {
  readonly cards: readonly CardScene[];
  readonly edges: readonly EdgeScene[];
  readonly groups: readonly GroupScene[];
  readonly tokens: readonly TokenScene[];
  readonly callout: CalloutScene | null;
}

/** @param progress of the motion that leads into `position`: 0 just left the one before, 1 the still. */
export function drawScene(trace: TraceState, layout: Layout, position: Position, progress: number): Scene {
  const still = drawStill(trace, position);
  const { cardOf, edgeOf, ...rest } = still;
  return {
    ...rest,
    cards: still.graph?.nodes.map(cardOf) ?? [],
    edges: still.graph?.edges.map(edgeOf) ?? [],
    groups: drawGroups(still, layout),
    tokens: drawTokens(still, layout, progress),
    callout: drawCallout(trace, still),
  };
}
