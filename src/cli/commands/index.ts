import type { Verb } from "../verb.ts";
import { approve } from "./approve.ts";
import { demo } from "./demo.ts";
import { doctor } from "./doctor.ts";
import { edit } from "./edit.ts";
import { exec } from "./exec.ts";
import { kill } from "./kill.ts";
import { lift } from "./lift.ts";
import { mcp } from "./mcp.ts";
import { pending } from "./pending.ts";
import { reconcile } from "./reconcile.ts";
import { reject } from "./reject.ts";
import { exemptions, grants, windows } from "./remembered.ts";
import { show } from "./show.ts";
import { watch } from "./watch.ts";

/** In the order of the help. */
export const VERBS: readonly Verb[] = [
  demo,
  mcp,
  exec,
  pending,
  show,
  approve,
  reject,
  edit,
  watch,
  kill,
  lift,
  windows,
  grants,
  exemptions,
  doctor,
  reconcile,
];
