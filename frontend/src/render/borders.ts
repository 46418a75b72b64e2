/** Where a person drew a border, in percent of what it divides; kept by the browser, where it keeps anything for this page. */

export function keptBorder(name: string): number | null {
  try {
    const kept = Number(localStorage.getItem(name) ?? Number.NaN);
    return kept > 0 && kept < 100 ? kept : null;
  } catch {
    return null;
  }
}

export function keepBorder(name: string, percent: number): void {
  try {
    localStorage.setItem(name, String(percent));
  } catch {
    // A page that may keep nothing begins anew.
  }
}
