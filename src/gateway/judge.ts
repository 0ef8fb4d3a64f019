import { randomUUID } from "node:crypto";
import {
  type Gate,
  type GatedTool,
  type JsonObject,
  type JsonValue,
  type Outcome,
  pendingSentence,
  type Performer,
  refusalSentence,
  type Run,
  sameJson,
  type Tool,
  Unknown,
  unknownSentence,
} from "../core/index.ts";
import type { CallOutcome, GatewayCall, GatewayVerdict, Given, Judge } from "./port.ts";

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
  /** Where a person finds a request, for a desk without an address of its own. Default: the command that shows it. */
  readonly link?: (request: string) => string;
  /** How long a call is held before its client is told to come back. Default {@link HOLD}. */
  readonly hold?: Partial<Hold>;
}

/** In milliseconds. */
export interface Hold {
  /** Clients give up after a minute where nothing tells them not to. */
  readonly plain: number;
  /** Those that asked for progress can wait for longer; some were seen to end at four minutes whatever they are told. */
  readonly withProgress: number;
}
const HOLD: Hold = { plain: 45_000, withProgress: 210_000 };

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

const isGiven = (value: unknown): value is Given =>
  isObject(value as never) && ("result" in (value as object) || "error" in (value as object));

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
  readonly #session = randomUUID();
  readonly #hold: Hold;
  #run: Run | undefined;
  #progressHelps = true;

  constructor(options: JudgeOptions) {
    this.#options = options;
    this.#hold = { ...HOLD, ...options.hold };
  }

  /** One relay is one run: what a person refused in it is not asked again. */
  #runFor(client: string | undefined): Run {
    const { gate, principal } = this.#options;
    this.#run ??= gate.run({ principal, session: this.#session, ...(client === undefined ? {} : { agent: client }) });
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

  /** What is left of the time that this client waits; what it was told of progress may not have kept it before. */
  #patience(call: GatewayCall, signal: AbortSignal): number {
    const progresses = call.progresses && this.#progressHelps;
    if (progresses)
      signal.addEventListener("abort", () => {
        if (signal.reason === "requester" && call.waited() > this.#hold.plain) this.#progressHelps = false;
      });
    return Math.max(0, Math.round((progresses ? this.#hold.withProgress : this.#hold.plain) - call.waited()));
  }

  /** The call's promise in the gate stays open until the server has answered; the verdict is there as soon as it may run. */
  #ask(call: GatewayCall, asked: { handle: GatedTool; signal: AbortSignal; name: string }): Promise<GatewayVerdict> {
    const run = this.#runFor(call.clientName);
    return new Promise((resolve) => {
      const performer: Performer = {
        run: (args) => this.#release(args, (released) => resolve(verdictOf(call, released, () => ended))),
        left: call.left,
        kept: () => call.given(),
        current: async () => {
          const now = await call.current();
          return isObject(now) ? toolOf(this.#options, call.tool, now) : undefined;
        },
      };
      const ended: Promise<Outcome> = run.try(asked.handle as GatedTool<JsonObject>, call.arguments, {
        signal: asked.signal,
        performer,
        hold: this.#patience(call, asked.signal),
        notes: notesOf(call),
      });
      ended.then(
        // Of a call that ran for this client the verdict is long known.
        (outcome) => resolve(this.#toldOf(outcome, asked.name)),
        () => resolve(refuse(asked.name, "policy_error")),
      );
    });
  }

  /** What the client reads of a call that was not released. */
  #toldOf(outcome: Outcome, tool: string): GatewayVerdict {
    switch (outcome.status) {
      case "refused":
        return { run: false, text: outcome.sentence, request: outcome.request };
      case "suspended":
      case "deferred":
        return { run: false, text: pendingSentence(tool, this.#linkOf(outcome)), request: outcome.request };
      case "unknown":
        return { run: false, text: outcome.sentence, request: outcome.request };
      default: {
        const given = outcome.status === "ran" ? outcome.value : outcome.error;
        return isGiven(given)
          ? { run: false, given, edited: outcome.edited?.arguments }
          : { run: false, text: unknownSentence(tool), request: outcome.request };
      }
    }
  }

  #linkOf(outcome: Extract<Outcome, { status: "suspended" | "deferred" }>): string {
    if (outcome.status === "suspended" && outcome.link !== undefined) return outcome.link;
    return this.#options.link?.(outcome.request) ?? `holdpoint show ${outcome.request}`;
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
