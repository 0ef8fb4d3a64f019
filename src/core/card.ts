import type { Hash } from "./hash.ts";
import type { Instant } from "./instant.ts";
import type { JsonObject } from "./json-value.ts";
import type { Assurance } from "./requirement.ts";
import type { RequestKind, Status } from "./request.ts";
import type { Impact, Tier } from "./tool-call.ts";

/**
 * Everything a person is shown of one request, made by the desk from the stored call and never from the agent's words.
 * Values are raw: whoever renders a card escapes them (`visible()`), never strips and never cuts in silence (P-13).
 */
export interface Card {
  readonly id: string;
  readonly kind: RequestKind;
  readonly status: Status;
  readonly digest: Hash;
  /** Four characters that only our process knows: names this request in a line of text. */
  readonly code: string;
  readonly tool: { readonly name: string; readonly origin: string };
  readonly tier: Tier | null;
  readonly impact: Impact;
  /** What the tool's author or our policy says of the call. Never replaces the call itself. */
  readonly message: string;
  readonly effect: string | null;
  /** The call, complete. Secrets stand as commitments, masked spans as {@link MASK} marks. */
  readonly arguments: JsonObject;
  /** Pointers whose value is masked here and runs unmasked. */
  readonly masked: readonly string[];
  /** Resolved paths, file hashes, environment: bound to the approval. */
  readonly bindings: Readonly<Record<string, string>>;
  readonly requester: {
    readonly principal: string;
    readonly agent: string | null;
    readonly path: readonly string[];
    /** True where the names are only what the client calls itself. */
    readonly claimed: boolean;
  };
  /**
   * Whether a yes would run it: its agent waits, was told to come back and ask again, or is gone, with some minutes in which
   * it may come back. `null`: nobody need wait for it, or it is over.
   */
  readonly presence: "waiting" | "parked" | "gone" | null;
  /** The agent's own words: shown last, marked as its claim. */
  readonly statement: string | null;
  readonly notes: readonly string[];
  readonly flags: readonly Flag[];
  readonly asks: readonly Ask[];
  readonly createdAt: Instant;
  readonly decideBy: Instant;
  /** Pointers this person may change; empty: nothing. */
  readonly editable: readonly string[];
  /** JSON Schema of the arguments where one is known. */
  readonly schema: JsonObject | null;
  /** How it ended, in words; `null` while it has not. */
  readonly ending: string | null;
}

/** Something about a value that a reader could miss. */
export interface Flag {
  readonly kind:
    | "control"
    | "bidi"
    | "invisible"
    | "tag"
    | "mixed_script"
    | "not_nfc"
    | "blank_run"
    | "opaque"
    | "masked"
    | "magic_key"
    | "long"
    | "deep"
    | "reserved_name"
    | "imperative";
  readonly pointer: string;
  /** One line, made by us; any part of a value in it is already visible-escaped. */
  readonly note: string;
}

/** One clause in words. */
export interface Ask {
  readonly by: string;
  /** "ada", "2 of group:finance", in the reader's language by whoever renders. */
  readonly of: readonly { readonly selectors: readonly string[]; readonly count: number }[];
  readonly approvedBy: readonly string[];
  readonly met: boolean;
  readonly assurance: Assurance;
}

/** What was given out with a card, to be carried by the decision: proof of what was shown to whom. */
export interface Presented {
  readonly card: Card;
  /** The exact text or markup that the channel showed. */
  readonly text: string;
  /** True where `text` shows the whole call; without it that channel cannot approve. */
  readonly complete: boolean;
  readonly view: string;
}
