/** Before a package is made: a file that the source no longer has must not be published. */
import { rmSync } from "node:fs";

rmSync("dist", { recursive: true, force: true });
