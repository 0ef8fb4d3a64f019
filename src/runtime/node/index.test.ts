import { expect, test, vi } from "vitest";
import type { Clock, Schemas, Surroundings } from "../../core/index.ts";
import { nodeRuntime } from "./index.ts";

test("the parts are there, and each runtime is a process of its own", () => {
  const [a, b] = [nodeRuntime(), nodeRuntime()];
  expect(Object.keys(a).sort()).toEqual(["aborter", "clock", "crypto", "ids", "keys", "log", "schemas", "surroundings"]);
  expect(a.ids.process).not.toBe(b.ids.process);
  expect(a.keys.call).not.toBe(b.keys.call);
  expect(Object.isFrozen(a)).toBe(true);
});

test("clock, log, schemas and surroundings can be given; ids follow the clock", () => {
  const clock: Clock = { now: () => 1_796_083_200_123, after: () => () => undefined };
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const schemas: Schemas = { check: async () => [] };
  const surroundings = {} as Surroundings;
  const runtime = nodeRuntime({ clock, log, schemas, surroundings });
  expect(runtime).toMatchObject({ clock, log, schemas, surroundings });
  expect(runtime.ids.request().replaceAll("-", "").slice(0, 12)).toBe((1_796_083_200_123).toString(16).padStart(12, "0"));
});

test("the default log says nothing", () => {
  const { log } = nodeRuntime();
  const write = vi.spyOn(process.stderr, "write");
  for (const level of ["debug", "info", "warn", "error"] as const) expect(log[level]("x", { a: 1 })).toBeUndefined();
  expect(write).not.toHaveBeenCalled();
});

test("an aborter is the platform's own", () => {
  const { signal, abort } = nodeRuntime().aborter();
  expect(signal).toBeInstanceOf(AbortSignal);
  expect(signal.aborted).toBe(false);
  abort("stopped");
  expect(signal.reason).toBe("stopped");
});
