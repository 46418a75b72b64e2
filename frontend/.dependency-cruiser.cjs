/** Rooms from the outside in; a room may import itself and the rooms right of it in this drawing:
 *
 *     app -> embed -> player | render | stream -> paint -> scene -> layout | words -> model -> protocol
 */
const LEVELS = [
  ["app"],
  ["embed"],
  ["player", "render", "stream"],
  ["paint"],
  ["scene"],
  ["layout", "words"],
  ["model"],
  ["protocol"],
];

const arrows = LEVELS.flatMap((rooms, level) =>
  rooms.map((room) => {
    const forbidden = [...LEVELS.slice(0, level).flat(), ...rooms.filter((neighbour) => neighbour !== room)];
    return {
      name: `${room}-looks-inward-only`,
      severity: "error",
      from: { path: `^src/${room}/` },
      to: forbidden.length > 0 ? { path: `^src/(${forbidden.join("|")})/` } : { path: "^$" },
    };
  }),
);

/** A folder that nobody placed in LEVELS. */
const unplaced = `^src/(?!(${LEVELS.flat().join("|")})/).+/`;

module.exports = {
  forbidden: [
    ...arrows,
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    { name: "every-room-is-placed", severity: "error", from: { path: unplaced }, to: {} },
    { name: "no-unplaced-room-is-used", severity: "error", from: {}, to: { path: unplaced } },
    {
      name: "no-unresolved",
      severity: "error",
      from: {},
      to: { couldNotResolve: true, pathNot: "[?]|^svelte/" },
    },
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      extensions: [".ts", ".svelte", ".js", ".mjs"],
      exportsFields: ["exports"],
      conditionNames: ["svelte", "import", "types", "default"],
    },
  },
};
