// The same examples on every run and machine, as in the Python tests.
import fc from "fast-check";

fc.configureGlobal({ seed: 1 });
