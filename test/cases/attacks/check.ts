import type { Work } from "../work.ts";
import type { Assertion } from "./seen.ts";

/** What a check says, in words of the case files; the name of what is asserted; and how, or the work that will assert it. */
export type Check = readonly [words: RegExp, name: string, assertion: Assertion | Work];
