import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
}
interface Cruised {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: { readonly violations: readonly Violation[]; readonly totalCruised: number };
}

const DEPCRUISE = resolve("node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
const CONFIGURATION = resolve(".dependency-cruiser.cjs");

const cruise = (folder: string, parts: readonly string[]): Cruised => {
  const ran = spawnSync(process.execPath, [DEPCRUISE, "--config", CONFIGURATION, "--output-type", "json", ...parts], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  return JSON.parse(ran.stdout) as Cruised;
};

describe("the boundaries of this tree", () => {
  const source = globSync("src/**/*.ts");
  const cruised = cruise(".", ["src", "test", "scripts", "bin", "examples"]);

  it("saw every module: a checker that looks at none reports success", () => {
    const seen = new Set(cruised.modules.map((module) => module.source));
    expect(source.filter((file) => !seen.has(file))).toEqual([]);
    expect(cruised.summary.totalCruised).toBeGreaterThanOrEqual(source.length);
    expect(source.length).toBeGreaterThan(50);
  });

  it("are kept", () => {
    expect(cruised.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  });
});

/** One planted violation a line: the rule, the file, what it holds, and the module that the report must name. */
const PLANTED: readonly (readonly [rule: string, file: string, text: string, to: string])[] = [
  ["no-cycles", "src/policy/one.ts", 'import { two } from "./two.ts"; export const one = two;', "src/policy/two.ts"],
  ["core-imports-only-core", "src/core/p1.ts", 'import "../runtime/node/index.ts";', "src/runtime/node/index.ts"],
  [
    "core-imports-only-core",
    "src/core/p2.ts",
    'import type { A } from "../stores/a/index.ts"; export type B = A;',
    "src/stores/a/index.ts",
  ],
  ["core-is-runtime-neutral", "src/core/p3.ts", 'import { readFileSync } from "node:fs"; readFileSync("");', "fs"],
  ["core-is-runtime-neutral", "src/core/p4.ts", 'import type { A } from "lib"; export type B = A;', "node_modules/lib/index.js"],
  [
    "others-use-the-core-door",
    "src/gateway/p1.ts",
    'import type { A } from "../core/inner.ts"; export type B = A;',
    "src/core/inner.ts",
  ],
  ["others-use-the-core-door", "src/stores/a/p1.ts", 'import "../../core/inner.ts";', "src/core/inner.ts"],
  [
    "only-deciders-import-the-deciding-side",
    "src/gateway/p2.ts",
    'import type { A } from "../core/approving.ts"; export type B = A;',
    "src/core/approving.ts",
  ],
  [
    "only-deciders-import-the-deciding-side",
    "src/adapters/a/p1.ts",
    'import "../../core/approving.ts";',
    "src/core/approving.ts",
  ],
  ["only-deciders-import-the-deciding-side", "src/hook/p1.ts", 'import "../core/approving.ts";', "src/core/approving.ts"],
  ["only-deciders-import-the-deciding-side", "src/stores/a/p4.ts", 'import "../../core/approving.ts";', "src/core/approving.ts"],
  [
    "the-desk-port-has-no-way-to-approve",
    "src/core/ports/desk.ts",
    'import type { A } from "./approvals.ts"; export type B = A;',
    "src/core/ports/approvals.ts",
  ],
  ["leaves-are-strangers", "src/channels/b/p1.ts", 'import "../../stores/a/index.ts";', "src/stores/a/index.ts"],
  ["leaves-are-strangers", "src/adapters/a/p2.ts", 'import "../b/index.ts";', "src/adapters/b/index.ts"],
  ["leaves-know-no-composer", "src/stores/a/p2.ts", 'import "../../server/contract.ts";', "src/server/contract.ts"],
  ["leaves-know-no-composer", "src/testing/p2.ts", 'import "../gateway/index.ts";', "src/gateway/index.ts"],
  ["runtime-and-suites-know-no-leaf", "src/testing/p1.ts", 'import "../stores/a/index.ts";', "src/stores/a/index.ts"],
  ["runtime-and-suites-know-no-leaf", "src/runtime/node/p1.ts", 'import "../../channels/b/index.ts";', "src/channels/b/index.ts"],
  ["published-doubles-stay-out-of-production", "src/gateway/p3.ts", 'import "../testing/index.ts";', "src/testing/index.ts"],
  [
    "ui-sees-only-the-contract-types",
    "src/ui/p1.ts",
    'import type { A } from "../core/index.ts"; export type B = A;',
    "src/core/index.ts",
  ],
  [
    "ui-takes-types-only",
    "src/ui/p2.ts",
    'import { contract } from "../server/contract.ts"; export const c = contract;',
    "src/server/contract.ts",
  ],
  ["only-the-cli-starts-the-cli", "src/server/p1.ts", 'import "../cli/main.ts";', "src/cli/main.ts"],
  [
    "packages-lazily-or-as-types",
    "src/stores/a/p3.ts",
    'import { a } from "lib"; export const b = a;',
    "node_modules/lib/index.js",
  ],
  ["packages-lazily-or-as-types", "src/index.ts", 'import { a } from "lib"; export const b = a;', "node_modules/lib/index.js"],
  ["tests-use-doors", "test/promises/p1.test.ts", 'import "../../src/core/inner.ts";', "src/core/inner.ts"],
  ["examples-use-what-is-published", "examples/p1.ts", 'import "../src/gateway/inner.ts";', "src/gateway/inner.ts"],
  ["beside-tests-stay-beside", "src/gateway/p4.test.ts", 'import "../server/inner.ts";', "src/server/inner.ts"],
  ["source-imports-no-test", "src/gateway/p5.ts", 'import "../../test/screens/screen.ts";', "test/screens/screen.ts"],
  ["nobody-imports-a-test", "src/gateway/p6.ts", 'import "./own.test.ts";', "src/gateway/own.test.ts"],
  ["only-tests-import-a-test-kit", "src/gateway/p7.ts", 'import "./own.test-kit.ts";', "src/gateway/own.test-kit.ts"],
  [
    "no-undeclared-packages",
    "src/server/p2.ts",
    'import { a } from "stranger"; export const b = a;',
    "node_modules/stranger/index.js",
  ],
  ["no-undeclared-packages", "src/server/p3.ts", 'import "not-installed";', "not-installed"],
  [
    "production-imports-no-dev-package",
    "src/server/p4.ts",
    'import { a } from "tool"; export const b = a;',
    "node_modules/tool/index.js",
  ],
];

/** What is allowed: none of these files may be named in a report. */
const ALLOWED: Readonly<Record<string, string>> = {
  "src/policy/two.ts": 'import { one } from "./one.ts"; export const two = one;',
  "src/core/index.ts": "export const a = 1; export type A = number;",
  "src/core/inner.ts": "export const a = 1; export type A = number;",
  "src/core/approving.ts":
    'import type { A } from "./ports/approvals.ts"; export type B = A; export type A2 = B; export type { A };',
  "src/core/ports/approvals.ts": "export type A = number;",
  "src/core/beside.test.ts": 'import "node:fs"; import "tool"; import "./inner.ts"; import "../testing/index.ts";',
  "src/core/turn-a.ts": 'import type { B } from "./turn-b.ts"; export type A = B | 1;',
  "src/core/turn-b.ts": 'import type { A } from "./turn-a.ts"; export type B = A | 2;',
  "src/runtime/node/index.ts":
    'import { randomUUID } from "node:crypto"; import { a } from "../../core/index.ts"; export const id = [randomUUID, a];',
  "src/stores/a/index.ts": 'import type { A as L } from "lib"; export type A = L; export const late = () => import("lib");',
  "src/channels/b/index.ts": 'import type { A } from "../../core/approving.ts"; export type B = A; import "node:tty";',
  "src/adapters/a/index.ts": 'import type { A } from "lib"; export type B = A;',
  "src/adapters/b/index.ts": "export const b = 1;",
  "src/gateway/index.ts": 'import "../stores/a/index.ts"; import { a } from "lib"; export const b = a;',
  "src/gateway/inner.ts": "export const a = 1;",
  "src/gateway/own.test.ts": 'import "./inner.ts"; import "../core/index.ts"; import "./own.test-kit.ts";',
  "src/gateway/own.test-kit.ts": 'import "tool"; import "./inner.ts"; import "../testing/index.ts";',
  "src/server/contract.ts": "export const contract = 1; export type Contract = number;",
  "src/server/inner.ts": 'import "../core/approving.ts";',
  "src/cli/main.ts": 'import "../core/approving.ts"; import "../gateway/index.ts"; import "../server/inner.ts"; import "lib";',
  "src/ui/app.ts": 'import type { Contract } from "../server/contract.ts"; export type C = Contract;',
  "src/testing/index.ts": 'import "../core/approving.ts"; import "../core/index.ts";',
  "test/screens/screen.ts": 'import "../../src/stores/a/index.ts"; import "../../src/testing/index.ts"; import "tool";',
  "test/architecture/codes.test.ts": 'import "../../src/core/inner.ts";',
};

const writeTree = (folder: string): void => {
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  for (const [file, text] of Object.entries(ALLOWED)) write(file, text);
  for (const [, file, text] of PLANTED) write(file, text);
  for (const name of ["lib", "tool", "stranger"]) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: "1.0.0", type: "module", types: "./index.d.ts" }));
    write(`node_modules/${name}/index.js`, "export const a = 1;");
    write(`node_modules/${name}/index.d.ts`, "export const a: number; export type A = number;");
  }
  write("package.json", JSON.stringify({ type: "module", dependencies: { lib: "1.0.0" }, devDependencies: { tool: "1.0.0" } }));
  cpSync("tsconfig.json", join(folder, "tsconfig.json"));
};

describe("planted violations", () => {
  let folder: string;
  let found: readonly Violation[];
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "holdpoint-planted-"));
    writeTree(folder);
    found = cruise(folder, ["src", "test", "examples"]).summary.violations;
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(PLANTED)("%s rejects %s", (...[rule, file, , to]) => {
    expect(
      found.filter((violation) => violation.from === file && violation.rule.name === rule).map((violation) => violation.to),
    ).toEqual([to]);
  });

  it("every rule has one", () => {
    const { forbidden } = createRequire(import.meta.url)(CONFIGURATION) as {
      forbidden: readonly { name: string; severity: string }[];
    };
    expect(forbidden.map((rule) => rule.name).filter((name) => !PLANTED.some(([rule]) => rule === name))).toEqual([]);
    expect(forbidden.filter((rule) => rule.severity !== "error")).toEqual([]);
  });

  it("what is allowed is not reported", () => {
    expect(found.filter(({ from }) => from in ALLOWED).map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual([]);
  });
});
