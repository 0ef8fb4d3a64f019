import { describe, expect, it } from "vitest";
import { z } from "zod";
import { manualClock } from "../../testing/index.ts";
import { benchRuntime, type Line } from "../desk/desk.test-kit.ts";
import { copyJson } from "../json.ts";
import type { JsonObject } from "../json-value.ts";
import type { CallFacts, Opinion } from "../policy.ts";
import type { InputSchema, StandardSchema } from "../tool-call.ts";
import { bind } from "./bind.ts";
import { hearAll } from "./opinion.ts";
import { receive } from "./receive.ts";
import { validate } from "./validate.ts";

const SCHEMA = { type: "object", properties: { confirm: { type: "boolean" } } };
const json = (value: unknown): JsonObject => copyJson(value) as JsonObject;

describe("station 1, receive", () => {
  it("P-02 takes JSON objects, as a deep-frozen copy of its own", () => {
    const given = { list: [{ a: 1 }] };
    const received = receive(given, null);
    if (!received.ok) throw new Error(received.refusal.code);
    (given.list[0] as { a: number }).a = 2;
    expect(received.arguments).toEqual({ list: [{ a: 1 }] });
    expect(Object.isFrozen((received.arguments.list as unknown[])[0])).toBe(true);
  });

  it.each<[string, unknown, string, RegExp]>([
    ["a list", [1], "", /must be a JSON object/],
    ["a text", "x", "", /must be a JSON object/],
    ["null", null, "", /must be a JSON object/],
    ["NaN", { a: { b: Number.NaN } }, "/a/b", /./],
    ["a lone surrogate", { a: "\ud800" }, "/a", /./],
    ["an unsafe integer", { a: 2 ** 53 + 2 }, "/a", /./],
    ["a function", { a: () => 1 }, "/a", /./],
    [
      "an accessor",
      {
        get a() {
          return 1;
        },
      },
      "/a",
      /./,
    ],
  ])("P-01 refuses %s, saying where", (...[, given, pointer, problem]) => {
    const received = receive(given, null);
    expect(received).toMatchObject({ ok: false, refusal: { code: "invalid_arguments", pointer } });
    expect(!received.ok && received.refusal.problem).toMatch(problem);
  });

  it("P-01 takes a confirm argument out that nobody declared: it is no consent", () => {
    expect(receive({ confirm: true, path: "/x" }, null)).toEqual({
      ok: true,
      arguments: { path: "/x" },
      notes: ["the agent sent a confirm argument; it was taken out and is not consent"],
    });
    expect(receive({ confirm: true }, SCHEMA)).toEqual({ ok: true, arguments: { confirm: true }, notes: [] });
    expect(receive({ confirm: true }, { properties: 7 } as never)).toMatchObject({ arguments: {} });
    expect(receive({ path: "/x" }, null)).toMatchObject({ notes: [] });
  });
});

describe("station 3, validate", () => {
  const lines: Line[] = [];
  const runtime = benchRuntime(manualClock(), lines);
  const said = async (schema: InputSchema | undefined, value: unknown) => {
    const validated = await validate(runtime, schema, json(value));
    return validated.ok ? validated.arguments : validated.refusal;
  };
  const standard = (validate_: (value: unknown) => unknown): StandardSchema => ({
    "~standard": { version: 1, vendor: "test", validate: validate_ as StandardSchema["~standard"]["validate"] },
  });

  it("P-02 digests, shows and runs what the schema makes of it: defaults and coercions", async () => {
    const schema = z.object({ n: z.coerce.number(), unit: z.string().default("EUR") }) as unknown as StandardSchema;
    expect(await said(schema, { n: "7" })).toEqual({ n: 7, unit: "EUR" });
    expect(await said(schema, { n: 7, unit: "EUR" })).toEqual({ n: 7, unit: "EUR" });
    expect(await said(undefined, { n: "7" })).toEqual({ n: "7" });
  });

  it("P-08 refuses a broken call before a person sees it, saying where", async () => {
    const schema = z.object({ list: z.array(z.object({ n: z.number() })) }) as unknown as StandardSchema;
    expect(await said(schema, { list: [{ n: "x" }] })).toMatchObject({ code: "invalid_arguments", pointer: "/list/0/n" });
    expect(await said({ type: "object", required: ["a"] }, {})).toMatchObject({ code: "invalid_arguments" });
    expect(await said({ type: "object" }, { a: 1 })).toEqual({ a: 1 });
    const pathless = standard(() => ({ issues: [{ message: "no" }] }));
    expect(await said(pathless, {})).toEqual({ code: "invalid_arguments", pointer: "", problem: "no" });
    const keyed = standard(() => ({ issues: [{ message: "no", path: [{ key: "a" }, 0, null] }] }));
    expect(await said(keyed, {})).toMatchObject({ pointer: "/a/0/null" });
  });

  it("P-02 refuses a schema whose output is not JSON, or not the same the second time", async () => {
    expect(await said(z.object({ when: z.coerce.date() }) as unknown as StandardSchema, { when: "2030-01-01" })).toEqual({
      code: "schema_not_stable",
    });
    expect(await said(z.object({ n: z.number().transform((n) => n + 1) }) as unknown as StandardSchema, { n: 1 })).toEqual({
      code: "schema_not_stable",
    });
    expect(
      await said(
        standard((value) => ({ value: [value] })),
        {},
      ),
    ).toEqual({ code: "schema_not_stable" });
    let calls = 0;
    const once = standard(() => (++calls > 1 ? { issues: [{ message: "no" }] } : { value: { a: 1 } }));
    expect(await said(once, {})).toEqual({ code: "schema_not_stable" });
  });

  it("P-15 refuses with policy_error when the schema itself fails", async () => {
    const throws = standard(() => {
      throw new Error("boom");
    });
    expect(await said(throws, {})).toEqual({ code: "policy_error" });
    expect(
      await said(
        standard(() => ({})),
        {},
      ),
    ).toEqual({ code: "policy_error" });
    expect(await said({ $ref: "https://elsewhere.example/" }, {})).toEqual({ code: "policy_error" });
    expect(lines).toContainEqual(expect.objectContaining({ message: "a tool's input schema could not be used" }));
  });
});

describe("bindings", () => {
  const surroundings = {
    cwd: () => "/home",
    env: (name: string) => (name === "TARGET" ? "staging" : undefined),
    realPath: async (path: string, cwd: string) => (path === "gone" ? undefined : path.startsWith("/") ? path : `${cwd}/${path}`),
    fileHash: async (path: string) => (path.endsWith(".sh") ? `sha256:${"a".repeat(64)}` : undefined),
    account: () => "op",
  };

  it("P-02 are everything a call depends on besides its arguments", async () => {
    const args = json({ path: "a", file: "b.sh", other: "c", none: "gone", n: 7, dir: "/srv" });
    expect(await bind(surroundings, undefined, args)).toEqual({});
    expect(
      await bind(
        surroundings,
        {
          cwd: true,
          env: ["TARGET", "UNSET"],
          paths: ["/path", "/none", "/n", "/missing"],
          files: ["/file", "/other", "/none", "/n"],
        },
        args,
      ),
    ).toEqual({
      cwd: "/home",
      "env:TARGET": "staging",
      "env:UNSET": "(none)",
      "path:/path": "/home/a",
      "path:/none": "(none)",
      "file:/home/b.sh": `sha256:${"a".repeat(64)}`,
      "file:/home/c": "(none)",
      "file:(none)": "(none)",
    });
    expect(await bind(surroundings, { cwd: "/dir", paths: ["/path"] }, args)).toEqual({ cwd: "/srv", "path:/path": "/srv/a" });
    expect(await bind(surroundings, { cwd: "/n" }, args)).toEqual({ cwd: "/home" });
    expect(await bind({ ...surroundings, realPath: async () => undefined }, { cwd: true }, args)).toEqual({ cwd: "(none)" });
    expect(Object.isFrozen(await bind(surroundings, { cwd: true }, args))).toBe(true);
  });
});

describe("opinions", () => {
  const facts: CallFacts = { tool: "pay", tier: "write", arguments: json({ amount: 7 }), requester: { principal: "ada" } };
  const heard = (...opinions: Opinion[]) => hearAll(opinions, facts);

  it("P-08 are heard in turn; null is none, each sees what those before it made of the arguments", async () => {
    expect(await heard()).toEqual({ arguments: { amount: 7 }, denied: undefined, holds: [], allows: false });
    expect(await heard(() => null)).toMatchObject({ denied: undefined, allows: false });
    expect(
      await heard(
        () => ({ verdict: "none" }),
        async () => ({ verdict: "allow" }),
      ),
    ).toMatchObject({ allows: true });
    const seen: unknown[] = [];
    const said = await heard(
      ({ arguments: args }) => {
        (args as { amount: number }).amount = 99;
        return { verdict: "ask", reason: "look at it", arguments: { amount: 5 } };
      },
      ({ arguments: args }) => {
        seen.push(args);
        return { verdict: "allow" };
      },
    );
    expect(said).toMatchObject({ arguments: { amount: 5 }, allows: true, holds: [{ by: "opinion", message: "look at it" }] });
    expect(seen).toEqual([{ amount: 5 }]);
    expect(facts.arguments).toEqual({ amount: 7 });
  });

  it("P-08 a deny ends it, with its words", async () => {
    const late = () => {
      throw new Error("not heard");
    };
    expect(await heard(() => ({ verdict: "deny", reason: "too much" }), late)).toMatchObject({
      denied: { by: "opinion", reason: "too much" },
      holds: [],
    });
    expect(await heard(() => ({ verdict: "deny" }), late)).toMatchObject({ denied: { by: "opinion" } });
  });

  it.each<[string, () => unknown]>([
    ["undefined", () => undefined],
    ["true", () => true],
    ["a text", () => "allow"],
    ["a list", () => ["allow"]],
    ["an unknown verdict", () => ({ verdict: "yes" })],
    ["an unknown member", () => ({ verdict: "allow", because: "x" })],
    ["a reason that is no text", () => ({ verdict: "allow", reason: 7 })],
    [
      "a throw",
      () => {
        throw new Error("x");
      },
    ],
    ["arguments that are no object", () => ({ verdict: "allow", arguments: [1] })],
    ["arguments that are no JSON", () => ({ verdict: "allow", arguments: { a: Number.NaN } })],
  ])("P-15 takes %s for a fault, which denies", async (_what, opinion) => {
    expect(await heard(opinion as Opinion, () => ({ verdict: "allow" }))).toMatchObject({
      denied: { by: "opinion", fault: true },
      allows: false,
    });
  });
});
