import { visible } from "../core/index.ts";
import { Lines } from "./lines.ts";

const ERROR_LINE_LIMIT = 65_536;

/**
 * Forwards a server's own error output. A stream gets the bytes as they are; a terminal, on which a person may be asked at
 * the same time, gets each line under the server's name and without control characters: it could draw a question of its own.
 */
export function pumpErrors(from: NodeJS.ReadableStream, to: NodeJS.WritableStream | undefined, server: string): void {
  from.on("error", () => undefined);
  if (to === undefined) from.resume();
  else if ((to as { isTTY?: boolean }).isTTY === true) pumpToTerminal(from, to, server);
  else from.pipe(to, { end: false });
}

function pumpToTerminal(from: NodeJS.ReadableStream, to: NodeJS.WritableStream, server: string): void {
  const write = (bytes: Buffer): void => {
    const text = bytes.toString("utf8").trimEnd();
    if (text !== "") to.write(`[${server}] ${visible(text)}\n`);
  };
  const lines = new Lines(ERROR_LINE_LIMIT, { line: write, piece: write });
  from.on("data", (chunk: Buffer) => lines.push(chunk));
  from.once("end", () => lines.end());
}
