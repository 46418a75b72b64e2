/** Fetches the typesetter beside everything else; formulas that are on show as text are set when it comes. */
import { onMath, useTypesetter } from "./math";

let isThere = $state(false);
onMath(() => void isThere);

/** Without it formulas are plain text, which is better than no picture. */
export async function fetchTypesetter(): Promise<void> {
  try {
    const { typeset } = await import("./typesetter");
    useTypesetter(typeset);
    isThere = true;
  } catch {
    console.warn("gradwalk: formulas are shown as plain text, the typesetter could not be fetched");
  }
}
