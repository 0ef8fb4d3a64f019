/** The shape of a line of `reported-faults.jsonl`, as its README describes it. Values are not yet written out. */

export type Fields = Readonly<Record<string, unknown>>;

export interface FaultCase {
  readonly id: string;
  readonly kind: string;
  readonly layer: string;
  readonly core: boolean;
  readonly choice: boolean;
  readonly symptom: string;
  readonly tool: { readonly name: string; readonly params?: Readonly<Record<string, string>> };
  readonly args: unknown;
  readonly policy: FaultPolicy;
  readonly events: readonly FaultEvent[];
  readonly expect: Fields;
}

export interface FaultPolicy extends Fields {
  readonly default: "allow" | "ask" | "deny";
  readonly rules: readonly FaultRule[];
  readonly channels?: readonly string[];
}

export interface FaultRule extends Fields {
  readonly effect: "allow" | "ask" | "deny";
  readonly tool: string;
}

export interface FaultEvent extends Fields {
  readonly do: string;
}

export interface FaultCall extends Fields {
  readonly id: string;
  readonly tool: string;
  readonly args: unknown;
}

export const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
export const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]);
export const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** Every call that a case makes, those of batches too. */
export const callsOf = (one: FaultCase): readonly FaultCall[] =>
  one.events.flatMap((event) =>
    event.do === "call" ? [event as unknown as FaultCall] : event.do === "batch" ? (event.calls as FaultCall[]) : [],
  );

export const isFault = (value: unknown): value is FaultCase =>
  isFields(value) && typeof value.kind === "string" && Array.isArray(value.events) && isFields(value.policy);
