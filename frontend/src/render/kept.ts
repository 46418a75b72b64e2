/** What the browser keeps for this page; nothing where a page may keep nothing, as in a sandboxed frame. */

/** `localStorage`: for good. `sessionStorage`: in this tab. */
type Where = "localStorage" | "sessionStorage";

export function recall(where: Where, name: string): string | null {
  try {
    return globalThis[where].getItem(name);
  } catch {
    return null;
  }
}

/** Null: no longer. */
export function keep(where: Where, name: string, value: string | null): void {
  try {
    if (value === null) globalThis[where].removeItem(name);
    else globalThis[where].setItem(name, value);
  } catch {
    // A page that may keep nothing begins anew.
  }
}
