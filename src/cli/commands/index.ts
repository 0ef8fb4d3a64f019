import type { Verb } from "../verb.ts";
import { approve } from "./approve.ts";
import { mcp } from "./mcp.ts";
import { pending } from "./pending.ts";
import { reject } from "./reject.ts";
import { show } from "./show.ts";

/** In the order of the help. */
export const VERBS: readonly Verb[] = [mcp, pending, show, approve, reject];
