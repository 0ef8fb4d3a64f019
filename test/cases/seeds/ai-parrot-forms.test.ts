import { describe, expect, it } from "vitest";
import { z } from "zod";
import { callbackChannel } from "../../../src/channels/callback/index.ts";
import type { Card, Tool } from "../../../src/index.ts";
import { asking, bench, ending } from "./bench.ts";

const shownCard = async (at: ReturnType<typeof bench>, request: string): Promise<Card> => {
  const shown = await at.card(request);
  if (shown === undefined || "ambiguous" in shown) throw new Error("there is no card");
  return shown.card;
};

describe("messages and forms", () => {
  const messageOf = async (tool: Partial<Tool> & { name: string }, args: object): Promise<string> => {
    const at = bench();
    at.tools(tool);
    return (await shownCard(at, (await at.begin(tool.name, args)).request)).message;
  };

  it.each([
    ["AP-011", "Send {subject} to {to}?", { subject: "hello", to: "x" }, "Send hello to x?"],
    ["AP-013", "Send {nothing}?", { to: "x" }, "send with: to=x"],
    ["AP-015", "Send {items[5]}?", { items: [1] }, "send with: items=1"],
  ])("%s: the message %j with %j is %j", async (...[, message, args, shown]) => {
    expect(await messageOf({ name: "send", confirm: message }, args)).toBe(shown);
  });

  it("AP-012: without a message the call is listed", async () => {
    expect(await messageOf(asking("send"), { to: "x", n: 1 })).toBe("send with: n=1, to=x");
  });

  it.each([
    ["AP-016", { type: "object", properties: { to: { type: "string" } } }, { to: "x" }, ["to"]],
    ["AP-017", undefined, { to: "x" }, ["to"]],
    ["AP-018", undefined, {}, ["arguments"]],
  ])("%s: a form opens with what is asked for", async (...[, input, args, fields]) => {
    const at = bench();
    at.tools(asking("send", input === undefined ? {} : { input }));
    const { schema } = await shownCard(at, (await at.begin("send", args)).request);
    const properties = (schema?.properties ?? {}) as Record<string, { default?: unknown }>;
    expect(Object.keys(properties)).toEqual(fields);
    for (const [name, value] of Object.entries(args)) expect(properties[name]?.default).toBe(value);
  });

  const mail = z.object({ to: z.string(), copies: z.number().default(1) });

  it("AP-019, AP-022: a valid edit runs as the schema reads it, and the outcome says who changed what", async () => {
    const at = bench();
    at.tools(asking("send", { input: mail as never }));
    const call = await at.begin("send", { to: "x" });
    await at.edits(call.request, { to: "y" });
    expect(at.ran).toEqual([{ tool: "send", args: { to: "y", copies: 1 } }]);
    expect(call.outcome).toMatchObject({ status: "ran", edited: { by: "ada", arguments: { to: "y", copies: 1 } } });
  });

  it("AP-020: an edit that the schema refuses is answered to the editor, and the request stays", async () => {
    const at = bench();
    at.tools(asking("send", { input: mail as never }));
    const call = await at.begin("send", { to: "x" });
    expect(await at.edits(call.request, { to: 7 })).toMatchObject({ counted: false, code: "invalid_arguments" });
    expect(ending(call)).toBe("open");
  });

  it("AP-023: no arguments are a no", async () => {
    const at = bench();
    at.tools(asking("send"));
    const call = await at.begin("send", { to: "x" });
    await at.edits(call.request, null);
    expect(ending(call)).toBe("refused: rejected");
  });

  it("AP-024: a conversation asks once more after an edit that cannot be taken, then the request ends", async () => {
    let asked = 0;
    const person = callbackChannel(
      () => {
        asked += 1;
        return { verdict: "approve", arguments: { to: 7 } };
      },
      { as: "ada" },
    );
    const at = bench({ channels: [person] });
    at.tools(asking("send", { input: mail as never }));
    const call = await at.begin("send", { to: "x" });
    expect(ending(call)).toBe("refused: invalid_edit");
    expect(asked).toBe(2);
  });
});
