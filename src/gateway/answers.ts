import { type JsonObject, readMessage } from "../core/index.ts";
import type { Id } from "./message.ts";
import type { Given } from "./port.ts";

/** The messages that we write ourselves, each as one line. */

const line = (message: object, id: string | null): string => {
  const text = JSON.stringify(message);
  return `{"jsonrpc":"2.0","id":${id},${text.slice(1)}\n`;
};

/** A protocol error. @param id `undefined` where the request could not be read */
export const errorLine = (id: Id | undefined, code: number, message: string): string =>
  line({ error: { code, message } }, id?.text ?? null);

export interface Told {
  readonly text: string;
  readonly request?: string | undefined;
  /** The request was of 2026-07-28 or later, where a result says that it is the whole result. */
  readonly modern: boolean;
}

/** A call that did not run: a result that the model reads, never a protocol error. */
export const refusalLine = (id: Id, { text, request, modern }: Told): string =>
  line(
    {
      result: {
        ...(modern ? { resultType: "complete" } : {}),
        content: [{ type: "text", text }],
        isError: true,
        ...(request === undefined ? {} : { _meta: { "holdpoint/request": request } }),
      },
    },
    id.text,
  );

/** What a server answered a call before, with a note of the arguments that ran where a person had changed them. */
export function givenLine(id: Id, given: Given, note: string | undefined): string {
  const written = line(given, id.text);
  return note === undefined ? written : withNote(Buffer.from(written), note).toString("utf8");
}

/**
 * Ours come before the server's own for the same token and progress must only ever grow: steps this small stay below a
 * server's first one.
 */
const PROGRESS_STEP = 100_000;

/** @param token the client's token as it was spelled */
export const progressLine = (token: string, count: number, message: string): string =>
  `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":${count / PROGRESS_STEP},${JSON.stringify({ message }).slice(1)}}\n`;

/** @param meta members of `_meta` as the client spelled them; empty before 2026-07-28 */
export function listLine(id: string, meta: string, cursor: string | undefined): string {
  const params = [
    ...(meta === "" ? [] : [`"_meta":{${meta}}`]),
    ...(cursor === undefined ? [] : [`"cursor":${JSON.stringify(cursor)}`]),
  ];
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"tools/list","params":{${params.join(",")}}}\n`;
}

/** The message's own text with nothing but the arguments replaced. */
/** Without it a model takes its own arguments for those that ran, and goes on from there. */
export const editNote = (tool: string, ran: JsonObject): string =>
  `A person changed the arguments of "${tool}" before it ran. It ran with: ${JSON.stringify(ran)}`;

/** A server's answer with a note put before its content; every other byte stays. An answer without content stays as it is. */
export function withNote(line: Buffer, note: string): Buffer {
  const text = line.toString("utf8");
  const message = readMessage(text.trimEnd());
  const content = message.span("/result/content");
  if (content === undefined || text[content.start] !== "[") return line;
  const at = Buffer.byteLength(text.slice(0, content.start + 1));
  const follows = text.slice(content.start + 1, content.end - 1).trim() === "" ? "" : ",";
  const part = Buffer.from(JSON.stringify({ type: "text", text: note }) + follows);
  return Buffer.concat([line.subarray(0, at), part, line.subarray(at)]);
}

export function withArguments(
  text: string,
  at: { params: number; arguments: { start: number; end: number } | undefined },
  next: JsonObject,
): string {
  const written = JSON.stringify(next);
  if (at.arguments !== undefined) return text.slice(0, at.arguments.start) + written + text.slice(at.arguments.end);
  const inside = at.params + 1;
  return `${text.slice(0, inside)}"arguments":${written},${text.slice(inside)}`;
}
