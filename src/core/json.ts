/** The one door to JSON: strict reading, strict copying, the canonical form. `JSON.parse` is used nowhere in the core. */
export { canonicalize, sameJson } from "./json-canonical.ts";
export { copyJson } from "./json-copy.ts";
export { RawNumber, readJson, readMessage } from "./json-read.ts";
export type { Message, MessageObject, MessageValue, Span } from "./json-read.ts";
