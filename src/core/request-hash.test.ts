import { describe, expect, it } from "vitest";
import { nodeRuntime } from "../runtime/node/index.ts";
import { callKeyOf, requesterRecord } from "./request-hash.ts";

const runtime = nodeRuntime();
const TOOL = { name: "pay", origin: "code", definition: `sha256:${"d".repeat(64)}` } as const;
const key = (args: object, ignore: readonly string[] = [], over: object = {}): string =>
  callKeyOf(runtime, { tenant: "t", tool: TOOL, bindings: {}, arguments: args as never, ignore, ...over });

describe("callKeyOf", () => {
  it("P-03 says the same act again, whatever is left out of it, and nothing else", () => {
    expect(key({ a: 1, t: 5 }, ["/t"])).toBe(key({ a: 1 }));
    expect(key({ a: { b: 1, t: 5 } }, ["/a/t"])).toBe(key({ a: { b: 1 } }));
    expect(key({ a: [1, 2] }, ["/a/1"])).toBe(key({ a: [1, null] }));
    expect(key({ a: 1 }, ["/none", ""])).toBe(key({ a: 1 }));
    expect(key({ a: 1 })).not.toBe(key({ a: 2 }));
    expect(key({ a: 1 }, [], { tenant: "u" })).not.toBe(key({ a: 1 }));
    expect(key({ a: 1 }, [], { bindings: { cwd: "/x" } })).not.toBe(key({ a: 1 }));
    expect(key({ a: 1 }, [], { tool: { ...TOOL, definition: `sha256:${"e".repeat(64)}` } })).not.toBe(key({ a: 1 }));
  });
});

describe("requesterRecord", () => {
  it("has one spelling for what is not there", () => {
    expect(requesterRecord({ principal: "ada" })).toEqual({
      principal: "ada",
      agent: null,
      session: null,
      run: null,
      thread: null,
      path: [],
      shared: false,
    });
    expect(
      requesterRecord({ principal: "ada", agent: "b", session: "s", run: "r", thread: "t", path: ["p"], shared: true }),
    ).toEqual({ principal: "ada", agent: "b", session: "s", run: "r", thread: "t", path: ["p"], shared: true });
  });
});
