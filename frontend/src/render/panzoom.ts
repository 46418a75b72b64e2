/** The camera by hand: dragging pans, the wheel and two fingers zoom, about where they point. */
import type { Point } from "../layout/geometry";
import type { Camera } from "../scene/camera";

const SMALLEST = 0.02;
const LARGEST = 3;
/** A press that moves less is a click. */
const CLICK_PX = 4;
/** Doublings per unit of a wheel's turn, by its unit: pixels, lines, pages; a pinch of a touchpad turns less. */
const PER_UNIT = [0.002, 0.05, 1] as const;
const PINCH = 10;

/** At another scale, so that what is at `about` stays there. */
function zoomed({ x, y, k }: Camera, factor: number, about: Point): Camera {
  const scale = Math.min(LARGEST, Math.max(SMALLEST, k * factor));
  const share = scale / k;
  return { k: scale, x: about.x - (about.x - x) * share, y: about.y - (about.y - y) * share };
}

/**
 * @param camera the one to start from
 * @param onmove is given the one that was made of it
 * @returns what takes all of it off the element
 */
export function panAndZoom(
  element: HTMLElement,
  camera: () => Camera,
  onmove: (camera: Camera) => void,
): () => void {
  const pressed = new Map<number, Point>();
  let start: Point | null = null;
  let isDragging = false;

  const pointOf = ({ clientX, clientY }: MouseEvent): Point => {
    const { left, top } = element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };

  const press = (event: PointerEvent): void => {
    const isControl = event.target instanceof Element && event.target.closest("[data-fixed]") !== null;
    if (event.button !== 0 || isControl) return;
    pressed.set(event.pointerId, pointOf(event));
    if (pressed.size === 1) [start, isDragging] = [pointOf(event), false];
  };

  const move = (event: PointerEvent): void => {
    const before = pressed.get(event.pointerId);
    if (before === undefined) return;
    const now = pointOf(event);
    const hasMoved = start !== null && Math.hypot(now.x - start.x, now.y - start.y) >= CLICK_PX;
    if (!isDragging && !hasMoved) return;
    if (!isDragging) element.setPointerCapture(event.pointerId);
    isDragging = true;
    const [other] = [...pressed].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    pressed.set(event.pointerId, now);
    const { x, y, k } = camera();
    const [dx, dy] = [now.x - before.x, now.y - before.y];
    if (other === undefined) {
      onmove({ x: x + dx, y: y + dy, k });
      return;
    }
    const spread = (point: Point): number => Math.hypot(point.x - other.x, point.y - other.y) || 1;
    const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
    onmove(zoomed({ x: x + dx / 2, y: y + dy / 2, k }, spread(now) / spread(before), middle));
  };

  const release = ({ pointerId }: PointerEvent): void => {
    pressed.delete(pointerId);
  };

  /** The click that ends a drag presses nothing. */
  const click = (event: MouseEvent): void => {
    if (isDragging) event.stopPropagation();
    isDragging = false;
  };

  const turn = (event: WheelEvent): void => {
    event.preventDefault();
    const power = -event.deltaY * (PER_UNIT[event.deltaMode] ?? 1) * (event.ctrlKey ? PINCH : 1);
    onmove(zoomed(camera(), 2 ** power, pointOf(event)));
  };

  const off = new AbortController();
  const { signal } = off;
  element.addEventListener("pointerdown", press, { signal });
  element.addEventListener("pointermove", move, { signal });
  element.addEventListener("pointerup", release, { signal });
  element.addEventListener("pointercancel", release, { signal });
  element.addEventListener("click", click, { signal, capture: true });
  element.addEventListener("wheel", turn, { signal, passive: false });
  return () => off.abort();
}
