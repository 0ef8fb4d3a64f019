import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { resultDigest } from "../../src/core/desk/claim.ts";
import type { DeskParts } from "../../src/core/desk/parts.ts";
import { snapshotOf } from "../../src/core/gate/gate.ts";
import { knownTool } from "../../src/core/gate/know.ts";
import type { Hash } from "../../src/core/hash.ts";
import type { Instant } from "../../src/core/instant.ts";
import { entryHash } from "../../src/core/journal.ts";
import {
  callKeyOf,
  decisionMac,
  digestOf,
  isOurDecision,
  mintView,
  readView,
  renderingHash,
  termsHash,
} from "../../src/core/request-hash.ts";
import { withCommitments } from "../../src/core/secret.ts";
import { nodeRuntime } from "../../src/runtime/node/index.ts";

/*
 * Every text below is written by hand, in RFC 8785 form, from formats.md: any language can repeat it. A change here is a
 * change of every record that was ever written, and needs a new version word and an ADR.
 */
const CALL_KEY = "call-key-call-key-call-key-call-key-1234";
const VIEW_KEY = "view-key-view-key-view-key-view-key-1234";
const DECISION_KEY = "decision-key-decision-key-decision-key-1";
const runtime = nodeRuntime({ keys: { call: CALL_KEY, view: VIEW_KEY, decision: DECISION_KEY, seal: null } });
const { crypto } = runtime;

const sha = (text: string): string => `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`;
const mac = (key: string, text: string): string => createHmac("sha256", key).update(text, "utf8").digest("base64url");

const DEFINITION: Hash = "sha256:dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd";
const TERMS: Hash = "sha256:7777777777777777777777777777777777777777777777777777777777777777";
const DIGEST: Hash = "sha256:1111111111111111111111111111111111111111111111111111111111111111";
const POLICY: Hash = "sha256:2222222222222222222222222222222222222222222222222222222222222222";
const TOOL = { name: "fs/write_file", origin: "mcp:fs", definition: DEFINITION };

describe("hash inputs", () => {
  it("P-02 of the digest: what people approve, what the claim recomputes", () => {
    const text =
      '{"bindings":{"cwd":"/srv/x","env:TARGET":"staging"},"call":{"arguments":{"path":"/srv/x/a","token":{"$secret":"sha256:00"}},"id":"c1","secrets":["/token"],"tool":{"definition":"sha256:dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd","name":"fs/write_file","origin":"mcp:fs"}},"id":"0190a1b2-0000-7000-8000-000000000001","kind":"call","nonce":"AAAAAAAAAAAAAAAAAAAAAA","requester":{"agent":"mcp:claude-desktop","path":[],"principal":"os:lena","run":null,"session":"s1","shared":false,"thread":null},"tenant":"default","terms":"sha256:7777777777777777777777777777777777777777777777777777777777777777","type":"holdpoint/request/v1"}';
    expect(
      digestOf(crypto, {
        id: "0190a1b2-0000-7000-8000-000000000001",
        tenant: "default",
        kind: "call",
        nonce: "AAAAAAAAAAAAAAAAAAAAAA",
        call: { id: "c1", tool: TOOL, arguments: { path: "/srv/x/a", token: { $secret: "sha256:00" } }, secrets: ["/token"] },
        bindings: { cwd: "/srv/x", "env:TARGET": "staging" },
        requester: {
          principal: "os:lena",
          agent: "mcp:claude-desktop",
          session: "s1",
          run: null,
          thread: null,
          path: [],
          shared: false,
        },
        terms: TERMS,
      }),
    ).toBe(sha(text));
    expect(sha(text)).toBe("sha256:bccb592fee46a786a78263f2ea44bd036f578e0e3bdc1fcf8337bda836bea27e");
  });

  it("P-18 of the terms, frozen when it was asked", () => {
    const text =
      '{"clauses":[{"any":[{"count":2,"of":["group:finance"]}],"assurance":"account","by":"rule:x","exemptible":false,"self":"deny","window":0}],"decideWithin":300000,"editable":["/content"],"escalate":[{"after":300000,"to":["group:managers"]}],"policy":"sha256:2222222222222222222222222222222222222222222222222222222222222222","remind":null,"runWithin":600000,"type":"holdpoint/terms/v1"}';
    expect(
      termsHash(crypto, {
        type: "holdpoint/terms/v1",
        clauses: [
          {
            by: "rule:x",
            any: [{ of: ["group:finance"], count: 2 }],
            self: "deny",
            assurance: "account",
            window: 0,
            exemptible: false,
          },
        ],
        editable: ["/content"],
        decideWithin: 300_000,
        runWithin: 600_000,
        escalate: [{ after: 300_000, to: ["group:managers"] }],
        remind: null,
        policy: POLICY,
      }),
    ).toBe(sha(text));
    expect(sha(text)).toBe("sha256:a2df8bf7bfffe1ea3bbe155528937e5580e36c127ba5615798d85e7529c58725");
  });

  it("P-03 of the call key: the same act again, less what is ignored", () => {
    const text =
      '{"arguments":{"list":[1,null],"path":"/a"},"bindings":{"cwd":"/srv"},"tenant":"default","tool":{"definition":"sha256:dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd","name":"fs/write_file","origin":"mcp:fs"},"type":"holdpoint/call/v1"}';
    expect(
      callKeyOf(runtime, {
        tenant: "default",
        tool: TOOL,
        bindings: { cwd: "/srv" },
        arguments: { path: "/a", timeout: 5, list: [1, 2] },
        ignore: ["/timeout", "/list/1", "/none"],
      }),
    ).toBe(mac(CALL_KEY, text));
    expect(mac(CALL_KEY, text)).toBe("BZ1tSGZVkdpqHaqKbq8RcgR96x94E4Qyx8AVFSJJbHs");
  });

  it("leaves a member out at any depth, and nothing at all for the whole", () => {
    const key = (args: object, ignore: readonly string[]): string =>
      callKeyOf(runtime, { tenant: "t", tool: TOOL, bindings: {}, arguments: args as never, ignore });
    expect(key({ a: { b: 1, c: 2 } }, ["/a/b"])).toBe(key({ a: { c: 2 } }, []));
    expect(key({ a: 1 }, [""])).toBe(key({ a: 1 }, []));
  });

  it("P-20 of a journal entry", () => {
    const text =
      '{"actor":{"as":"slack:U1","principal":"ada","via":"slack"},"at":"2030-01-01T00:00:00.000Z","data":{"digest":"sha256:11"},"event":"request.voted","n":1,"prev":"sha256:1111111111111111111111111111111111111111111111111111111111111111","rev":2,"stream":"request/r1","tenant":"default","type":"holdpoint/entry/v1"}';
    expect(
      entryHash(crypto, {
        type: "holdpoint/entry/v1",
        stream: "request/r1",
        n: 1,
        prev: DIGEST,
        at: "2030-01-01T00:00:00.000Z" as Instant,
        event: "request.voted",
        tenant: "default",
        actor: { principal: "ada", as: "slack:U1", via: "slack" },
        rev: 2,
        data: { digest: "sha256:11" },
      }),
    ).toBe(sha(text));
    expect(sha(text)).toBe("sha256:6c9fd6ee26111a6e08d583a049f4ed17573ba0463973c473ddad5112c0a261f3");
  });

  it("P-01 of the proof that a decision is ours", () => {
    const decision = {
      id: "d1",
      verdict: "approve",
      by: "ada",
      as: "slack:U1",
      via: "slack",
      assurance: "account",
      digest: DIGEST,
      rendering: null,
      at: "2030-01-01T00:00:00.000Z" as Instant,
    } as const;
    const text =
      '{"decision":{"as":"slack:U1","assurance":"account","at":"2030-01-01T00:00:00.000Z","by":"ada","digest":"sha256:1111111111111111111111111111111111111111111111111111111111111111","id":"d1","rendering":null,"verdict":"approve","via":"slack"},"request":"r1","type":"holdpoint/decision/v1"}';
    expect(decisionMac(runtime, "r1", decision)).toBe(mac(DECISION_KEY, text));
    expect(mac(DECISION_KEY, text)).toBe("_h7bevBiftCOgdazBZLweacG0pDbliSUNNIquPu3KxM");
    const ours = { ...decision, mac: mac(DECISION_KEY, text) };
    expect(isOurDecision(runtime, "r1", ours)).toBe(true);
    expect(isOurDecision(runtime, "r2", ours)).toBe(false);
    expect(isOurDecision(runtime, "r1", { ...ours, by: "eve" })).toBe(false);
    expect(isOurDecision(runtime, "r1", { ...ours, mac: "" })).toBe(false);
  });

  it("P-02 of a view and of the rendering in it", () => {
    const rendering = renderingHash(crypto, { channel: "slack", digest: DIGEST, text: "Delete /tmp?" });
    const shown =
      '{"channel":"slack","digest":"sha256:1111111111111111111111111111111111111111111111111111111111111111","text":"Delete /tmp?","type":"holdpoint/rendering/v1"}';
    expect(rendering).toBe(sha(shown));
    const parts = { request: "r1", digest: DIGEST, person: "ada", channel: "slack" };
    const text = `{"channel":"slack","digest":"${DIGEST}","person":"ada","rendering":"${rendering}","request":"r1","type":"holdpoint/view/v1"}`;
    const view = mintView(runtime, { ...parts, rendering });
    expect(view).toBe(`${rendering.slice(7)}.${mac(VIEW_KEY, text)}`);
    expect(readView(runtime, view, parts)).toBe(rendering);
    for (const other of [{ request: "r2" }, { digest: POLICY }, { person: "eve" }, { channel: "mail" }])
      expect(readView(runtime, view, { ...parts, ...other })).toBeUndefined();
    for (const forged of ["", "x", 7, undefined, `${view}x`, view.replace(/^./, "g"), `${"0".repeat(64)}.${mac(VIEW_KEY, text)}`])
      expect(readView(runtime, forged, parts)).toBeUndefined();
  });

  it("of a tool's definition, in code and of a server", () => {
    const run = (): void => undefined;
    const own = '{"server":null,"tool":{"input":{"type":"object"},"name":"pay","version":"2"},"type":"holdpoint/definition/v1"}';
    expect(knownTool({ name: "pay", version: "2", input: { type: "object" }, run }, crypto).identity).toEqual({
      name: "pay",
      origin: "code",
      definition: sha(own),
    });
    const bare = '{"server":null,"tool":{"input":null,"name":"pay","version":null},"type":"holdpoint/definition/v1"}';
    expect(knownTool({ name: "pay", run }, crypto).identity.definition).toBe(sha(bare));
    const theirs =
      '{"server":{"argv":["npx","fs"]},"tool":{"name":"write_file","title":"Write"},"type":"holdpoint/definition/v1"}';
    const definition = { server: { argv: ["npx", "fs"] }, tool: { name: "write_file", title: "Write" } };
    expect(knownTool({ name: "fs/write_file", origin: "mcp:fs", definition, run }, crypto).identity.definition).toBe(sha(theirs));
  });

  it("P-18 of a policy in code: its words, and the names of its functions", () => {
    const when = function isBig(): boolean {
      return true;
    };
    const opinion = function careful(): null {
      return null;
    };
    const text =
      '{"code":["careful","isBig"],"files":[{"opinions":[{"$code":"careful"}],"rules":[{"ask":"pay","when":{"$code":"isBig"}}],"unmatched":"ask"}],"type":"holdpoint/policy/v1"}';
    const policy = { unmatched: "ask", rules: [{ ask: "pay", when }], opinions: [opinion] } as const;
    expect(snapshotOf(policy, { runtime, record: "counts" }).hash).toBe(sha(text));
    expect(snapshotOf({}, { runtime, record: "counts" }).hash).toBe(sha('{"code":[],"files":[{}],"type":"holdpoint/policy/v1"}'));
  });

  it("P-20 of a result, JSON or not", () => {
    const parts = { runtime } as unknown as DeskParts;
    expect(resultDigest(parts, { b: 1, a: [true] })).toBe(sha('{"type":"holdpoint/result/v1","value":{"a":[true],"b":1}}'));
    expect(resultDigest(parts, null)).toBe(sha('{"type":"holdpoint/result/v1","value":null}'));
    for (const value of [undefined, () => 1, Number.NaN, new Map()])
      expect(resultDigest(parts, value)).toBe(sha('{"kind":"opaque","type":"holdpoint/result/v1"}'));
  });

  it("P-19 of a secret's commitment", () => {
    const text = '{"salt":"AAAA","type":"holdpoint/secret/v1","value":"hunter2"}';
    expect(withCommitments(crypto, { token: "hunter2" }, { "/token": "AAAA" })).toEqual({ token: { $secret: sha(text) } });
  });
});
