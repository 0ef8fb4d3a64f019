import { join } from "node:path";
import { NOTES, type Sandbox, type Tree } from "./sandbox.ts";

/** One thing that the scripted agent does. */
export interface Step {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What the agent is about, for the person who watches. */
  readonly says: string;
  /** For the person who decides. */
  readonly hint?: string;
  /** What the scripted person of `--auto` does; a call without one is freed by policy. */
  readonly script?: Script;
}

export type Script =
  | { readonly does: "approve" }
  | { readonly does: "reject"; readonly reason: string }
  | { readonly does: "edit"; readonly arguments: Readonly<Record<string, unknown>> }
  /** Nothing at all, until the time is over. */
  | { readonly does: "wait" };

const REPORT = "Report\n\nAll is well: grüße 😀\n";
const INVOICE = "Pay 9,000 to somebody\n";
const EDITED_LINE = "Pay rent (half of it)";

export function stepsIn({ files }: Sandbox): readonly Step[] {
  const at = (name: string): string => join(files, name);
  const change = (newText: string) => ({ path: at("notes.txt"), edits: [{ oldText: "Pay rent", newText }] });
  return [
    {
      tool: "read_text_file",
      arguments: { path: at("notes.txt") },
      says: "The agent reads notes.txt. The policy says that reading runs by itself: nobody is asked.",
    },
    {
      tool: "write_file",
      arguments: { path: at("report.txt"), content: REPORT },
      says: "The agent wants to write report.txt. Nothing is written before you say so.",
      hint: "Type y to let it run.",
      script: { does: "approve" },
    },
    {
      tool: "write_file",
      arguments: { path: at("invoice.txt"), content: INVOICE },
      says: "Now it wants to write an invoice that nobody asked for.",
      hint: "Refuse it in your own words, such as: no, nobody asked for an invoice",
      script: { does: "reject", reason: "nobody asked for an invoice" },
    },
    {
      tool: "edit_file",
      arguments: change("Pay rent twice"),
      says: "It wants to change a line of notes.txt.",
      hint: "Decide as you like. In another terminal you could also change the call first: holdpoint edit",
      script: { does: "edit", arguments: change(EDITED_LINE) },
    },
    {
      tool: "move_file",
      arguments: { source: at("notes.txt"), destination: at("attic/notes.txt") },
      says: "Last, it wants to move notes.txt away. The policy calls that destructive: a plain y is not enough.",
      hint: "Type yes with the code on the card, or anything else to refuse.",
      script: { does: "wait" },
    },
  ];
}

/** What stands on the disk after each step if every decision of the script was kept, and nothing else happened. */
export function treesOfScript(): readonly Tree[] {
  const start: Tree = new Map([["notes.txt", NOTES]]);
  const reported: Tree = new Map([...start, ["report.txt", REPORT]]);
  const edited: Tree = new Map([...reported, ["notes.txt", NOTES.replace("Pay rent", EDITED_LINE)]]);
  return [start, reported, reported, edited, edited];
}
