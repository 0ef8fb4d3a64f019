import { agent, type Finding, folder, key, node, setUp, terminal } from "../doctor/checks.ts";
import { storeFindings } from "../doctor/store.ts";
import { EXIT } from "../exit-codes.ts";
import { output, wrapped } from "../output.ts";
import { placeOf } from "../place.ts";
import { type Common, GROUPS, type Verb, verb } from "../verb.ts";

const MARKS = { well: "ok   ", know: "note ", wrong: "WRONG" } as const;

const INDENT = " ".repeat(7);

/** Beside the mark; on a terminal broken between words. What is to be done stays whole, to be copied. */
const said = (text: string): string => (process.stdout.isTTY === true ? wrapped(text, INDENT).trimStart() : text);

const lineOf = ({ state, what, says, fix }: Finding): string =>
  `${MARKS[state]}  ${said(`${what}: ${says}`)}${fix === undefined ? "" : `\n       -> ${fix}`}`;

export const doctor: Verb = (program, does) => {
  verb(program, {
    name: "doctor",
    says: "looks at this installation: what is gated, what it can promise, what is wrong and how to mend it",
    group: GROUPS.look,
    example: ["holdpoint doctor", "holdpoint doctor --json"],
    more: "Exit code 1 where something is wrong. It changes nothing.",
  }).action(
    does(async (options: Common) => {
      const place = placeOf(options.data);
      const outside = [node(), folder(place), key(place)];
      const broken = outside.some(({ state }) => state === "wrong");
      // Without a folder and a key that can be used the store could not be opened as a command would.
      const findings = [...outside, ...(broken ? [] : await storeFindings(place)), terminal(), agent(), setUp()];
      output(options).result(findings, findings.map(lineOf).join("\n"));
      return findings.some(({ state }) => state === "wrong") ? EXIT.failed : EXIT.done;
    }),
  );
};
