import { list, text } from "../faults/shape.ts";
import type { Sabotage } from "../world/part.ts";
import type { AttackCase } from "./shape.ts";
import { Stage } from "./stage.ts";

/** Attacks on the person at the terminal: what is typed, piped or drawn around the question. */

export const isPrompt = ({ where, input }: AttackCase): boolean =>
  where === "terminal" && (input.stdin !== undefined || input.events !== undefined);

/** `ESC[2J Continue? [y/n]` as the bytes that a program would print. */
const drawn = (words: string): string => words.replaceAll("ESC", "\u001b");

async function act(stage: Stage, step: string): Promise<void> {
  const { seat } = stage;
  const printed = /^(?:child|background|tool) prints (.+)$/s.exec(step)?.[1];
  const typed = /^user types (.+)$/s.exec(step)?.[1];
  const pasted = /^user pastes (.+)$/s.exec(step)?.[1];
  if (step === "prompt") await stage.call("act", { cmd: "rm -rf build" });
  else if (printed !== undefined) {
    seat?.write(drawn(printed));
    await seat?.settle();
  } else if (typed !== undefined) {
    const before = seat?.written.length ?? 0;
    await seat?.types(`${typed}\r`);
    await stage.world.settle();
    await seat?.settle();
    stage.marks.set("drawn-after", seat?.written.slice(before));
  } else if (pasted !== undefined) {
    await seat?.types(`\u001b[200~${pasted}\u001b[201~`);
  } else throw new Error(`no step "${step}"`);
}

export async function runPrompt(one: AttackCase, sabotage?: Sabotage): Promise<Stage> {
  const { input } = one;
  const tty = input.tty !== false;
  const stage = new Stage({ sabotage, tools: [{ name: "act", run: () => undefined }], channel: "terminal", tty });
  stage.world.start({ name: "main" });
  const stdin = text(input.stdin);
  if (stdin === undefined) {
    for (const step of list(input.events)) await act(stage, String(step));
    return stage;
  }
  const keys = stdin.replaceAll("\n", "\r");
  if (input.when === "before prompt" || !tty) stage.seat?.keyboard.press(keys);
  await stage.call("act", { cmd: "rm -rf build" });
  if (input.when !== "before prompt" && tty)
    await stage.seat?.types(input.paste === true ? `\u001b[200~${keys}\u001b[201~` : keys);
  await stage.settle();
  return stage;
}
