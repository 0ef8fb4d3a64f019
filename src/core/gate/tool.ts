import type { InputSchema, RunContext, StandardSchema, Tool, ToolDescriptor } from "../tool-call.ts";

/** A tool that only the gate can run: it carries the types of its arguments and value, and no way to run it. */
export interface GatedTool<Args = never, Value = unknown> extends ToolDescriptor {
  readonly [GATED]: { readonly args: (args: Args) => void; readonly value: () => Value } | undefined;
}
declare const GATED: unique symbol;

/** What callers write: `run` takes what the schema gives. */
export type Declared<Schema extends InputSchema | undefined, Value> = Omit<Tool, "input" | "run"> & {
  readonly input?: Schema;
  readonly run: (args: OutputOf<Schema>, context: RunContext) => Value | Promise<Value>;
};
export type OutputOf<Schema> = Schema extends StandardSchema<infer Output> ? Output : Record<string, unknown>;
export type InputOf<Schema> = Schema extends {
  readonly "~standard": { readonly types?: { readonly input: infer Input } | undefined };
}
  ? Input
  : Record<string, unknown>;
