/** Whether somebody has been here before, where the browser remembers such things. */
const KEY = "gradwalk.tour";

/** True where the page stands alone and nobody has taken or left the tour; false where nothing can be remembered. */
export function wantsTour(): boolean {
  if (window.parent !== window) return false;
  try {
    return localStorage.getItem(KEY) === null;
  } catch {
    return false;
  }
}

export function rememberTour(): void {
  try {
    localStorage.setItem(KEY, "done");
  } catch {
    // Nothing is remembered here; `wantsTour` says no in such a place, too.
  }
}
