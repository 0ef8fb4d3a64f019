import {
  type Gate,
  type GatedTool,
  type JsonObject,
  type JsonValue,
  type Outcome,
  type Performer,
  refusalSentence,
  type Run,
  sameJson,
  type Tool,
  Unknown,
} from "../core/index.ts";
import type { CallOutcome, GatewayCall, GatewayVerdict, Judge } from "./port.ts";

export interface JudgeOptions {
  readonly gate: Gate;
  /** Our name of the server: its tools are `<server>/<tool>`. */
  readonly server: string;
  /** How the server is started: part of what a tool is. */
  readonly command: readonly string[];
  /** Whom the calls are for: `os:<account>` where nothing else is configured. */
  readonly principal: string;
  /** What the client reads while a person is asked. */
  readonly waiting: (tool: string) => string;
}

const refuse = (tool: string, code: "unknown_tool" | "policy_error"): GatewayVerdict => ({
  run: false,
  text: refusalSentence(tool, { code }),
});

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

/** A tool's own run is never reached: every call of it brings the performer that forwards it. */
const neverHere = (): never => {
  throw new Error("a gateway's tool runs on its server");
};

/** What the gate knows of a server's tool. Of its claims only those that tighten count: a hint can make a card graver, never free a call. */
function toolOf({ server, command }: JudgeOptions, name: string, definition: JsonObject): Tool {
  const annotations = isObject(definition.annotations) ? definition.annotations : {};
  return {
    name: `${server}/${name}`,
    origin: `mcp:${server}`,
    definition: { server: { argv: [...command] }, tool: definition as JsonValue },
    ...(isObject(definition.inputSchema) ? { input: definition.inputSchema } : {}),
    ...(annotations.destructiveHint === true ? { impact: "destructive" as const } : {}),
    run: neverHere,
  };
}

interface Released {
  readonly arguments: JsonObject;
  finished(outcome: CallOutcome): void;
}

class ServerError extends Error {}

/** What the gate records of a server's answer: an error result is a failed call. */
function settle(outcome: CallOutcome): unknown {
  if ("lost" in outcome) throw new Unknown({ status: "unknown", sentence: outcome.lost });
  if (outcome.isError) throw new ServerError("the server answered with an error");
  return outcome.result;
}

class GateJudge implements Judge {
  readonly #options: JudgeOptions;
  readonly #tools = new Map<string, { readonly definition: JsonObject; readonly handle: GatedTool }>();
  #run: Run | undefined;

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  /** One relay is one run: what a person refused in it is not asked again. */
  #runFor(client: string | undefined): Run {
    const { gate, principal } = this.#options;
    this.#run ??= gate.run({ principal, ...(client === undefined ? {} : { agent: client }) });
    return this.#run;
  }

  #handle(name: string, definition: JsonObject): GatedTool {
    const known = this.#tools.get(name);
    if (known !== undefined && sameJson(known.definition, definition)) return known.handle;
    const handle = this.#options.gate.observe(toolOf(this.#options, name, definition));
    this.#tools.set(name, { definition, handle });
    return handle;
  }

  async judge(call: GatewayCall, signal: AbortSignal): Promise<GatewayVerdict> {
    const name = `${this.#options.server}/${call.tool}`;
    if (!isObject(call.definition)) return refuse(name, "unknown_tool");
    let handle: GatedTool;
    try {
      handle = this.#handle(call.tool, call.definition);
    } catch {
      return refuse(name, "unknown_tool");
    }
    call.progress(this.#options.waiting(name));
    return this.#ask(call, { handle, signal, name });
  }

  /** The call's promise in the gate stays open until the server has answered; the verdict is there as soon as it may run. */
  #ask(call: GatewayCall, asked: { handle: GatedTool; signal: AbortSignal; name: string }): Promise<GatewayVerdict> {
    const run = this.#runFor(call.clientName);
    return new Promise((resolve) => {
      const performer: Performer = {
        run: (args) => this.#release(args, (released) => resolve(verdictOf(call, released, () => ended))),
        current: async () => {
          const now = await call.current();
          return isObject(now) ? toolOf(this.#options, call.tool, now) : undefined;
        },
      };
      const ended: Promise<Outcome> = run.try(asked.handle as GatedTool<JsonObject>, call.arguments, {
        signal: asked.signal,
        performer,
        notes: notesOf(call),
      });
      ended.then(
        (outcome) => {
          if (outcome.status === "refused" || outcome.status === "unknown")
            resolve({ run: false, text: outcome.sentence, request: outcome.request });
        },
        () => resolve(refuse(asked.name, "policy_error")),
      );
    });
  }

  #release(args: JsonObject, released: (release: Released) => void): Promise<unknown> {
    return new Promise<CallOutcome>((resolve) => {
      released({ arguments: args, finished: resolve });
    }).then(settle);
  }

  async close(): Promise<void> {
    await this.#run?.[Symbol.asyncDispose]();
  }
}

/** What travels with the call and is not on the card as an argument. */
const notesOf = ({ beside }: GatewayCall): readonly string[] =>
  beside.length === 0
    ? []
    : [
        `the client also sent ${beside.map((member) => JSON.stringify(member)).join(", ")} beside the arguments; the server gets that as it is`,
      ];

/** An edit replaces the arguments alone; an unchanged call keeps the client's own text, byte for byte. */
function verdictOf(call: GatewayCall, released: Released, ended: () => Promise<Outcome>): GatewayVerdict {
  return {
    run: true,
    arguments: sameJson(released.arguments, call.arguments) ? undefined : released.arguments,
    finished: async (outcome) => {
      released.finished(outcome);
      await ended();
    },
  };
}

/** The gate as the relay's judge. */
export const gateJudge = (options: JudgeOptions): Judge & { close(): Promise<void> } => new GateJudge(options);
