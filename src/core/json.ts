/** The one door to JSON: strict reading, strict copying, the canonical form. */
export { canonicalize } from "./json-canonical.ts";
export { copyJson } from "./json-copy.ts";
export { RawNumber } from "./json-raw.ts";
export { readJson, readMessage } from "./json-read.ts";
export { isCopyOf, sameJson } from "./json-same.ts";
export type { Message, MessageObject, MessageValue, Span } from "./json-read.ts";
