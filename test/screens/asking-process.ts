/**
 * A process that asks at its own terminal, for `pty.test.ts`. What it got is written to the file named first; the second
 * argument says what else it does meanwhile.
 */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { terminalChannel } from "../../src/channels/terminal/index.ts";
import { createGate } from "../../src/index.ts";

const [file = "", play = "ask"] = process.argv.slice(2);
const note = (line: string): void => appendFileSync(file, `${line}\n`);

const gate = createGate({
  channels: [terminalChannel({ as: "ada", locale: "en" })],
  deadline: play === "expire" ? 1500 : 20_000,
});
gate.tool({
  name: "write_note",
  tier: "write",
  input: { type: "object" },
  confirm: true,
  run: () => {
    note("ran");
    return "done";
  },
});

const host = play === "host" ? createInterface({ input: process.stdin }) : undefined;
host?.on("line", (line) => {
  note(`host: ${line}`);
  if (line === "bye") host.close();
});
if (play === "exit") setTimeout(() => process.exit(3), 1200);

note(`pid ${process.pid}`);
const run = gate.run({ principal: "ada" });
const outcome = await run.try("write_note", { text: "hello" });
note(outcome.status === "refused" ? `refused ${outcome.code}` : outcome.status);
await run[Symbol.asyncDispose]();
await gate[Symbol.asyncDispose]();
