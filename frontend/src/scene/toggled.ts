/** What the eye keeps hold of while a group opens or closes in place. */
import type { Box } from "../layout/geometry";
import type { Layout } from "../layout/place";
import type { Camera, Region } from "./camera";
import { project } from "./camera";

/**
 * The camera under which the cards in view stay at their heights, as many as can: the group grows round the line of
 * the graph, and only what stands over and under it makes room. Its left border stays, and its header is in view.
 * @param camera as it was before `group` was toggled; null where the group is in only one of the layouts
 */
export function afterToggle(
  camera: Camera,
  before: Layout,
  after: Layout,
  group: string,
  region: Region,
): Camera | null {
  const [was, is] = [before.groups.get(group), after.groups.get(group)];
  if (was === undefined || is === undefined) return null;
  const x = camera.x + (was.x - is.x) * camera.k;
  const y = camera.y - middleShift(before, after, group, camera, region) * camera.k;
  const header = y + is.y * camera.k;
  const clamped = Math.min(
    Math.max(header, region.top),
    Math.max(region.top, region.height - HEADER_ROOM_PX),
  );
  return { k: camera.k, x, y: y + clamped - header };
}

const HEADER_ROOM_PX = 40;

/** How far down the middle one of the cards in view has gone; where there is none, the group itself. */
function middleShift(before: Layout, after: Layout, group: string, camera: Camera, region: Region): number {
  const shifts: number[] = [];
  for (const [was, is] of pairs(before, after, group)) {
    const on = project(was, camera);
    const isSeen = on.x < region.width && on.x + on.width > 0 && on.y < region.height && on.y + on.height > 0;
    if (isSeen) shifts.push(is.y - was.y);
  }
  shifts.sort((a, b) => a - b);
  const own = (after.groups.get(group)?.y ?? 0) - (before.groups.get(group)?.y ?? 0);
  return shifts[Math.floor(shifts.length / 2)] ?? own;
}

function* pairs(before: Layout, after: Layout, group: string): Generator<readonly [Box, Box]> {
  for (const [id, was] of before.nodes) {
    const is = after.nodes.get(id);
    if (is !== undefined) yield [was, is];
  }
  for (const [id, was] of before.groups) {
    const is = after.groups.get(id);
    if (id !== group && is !== undefined && !was.open && !is.open) yield [was, is];
  }
}
