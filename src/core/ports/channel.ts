import type { Card, Presented } from "../card.ts";
import type { JsonObject } from "../json-value.ts";
import type { Assurance } from "../requirement.ts";
import type { Approvals, Identity } from "./approvals.ts";
import type { Clock, Log } from "./runtime.ts";

/** Carries requests to people and their decisions back. It never decides and never sees a way to run anything. */
export interface Channel {
  readonly name: string;
  readonly capabilities: ChannelCapabilities;
  /** Given once, by the desk, before anything else. A channel that needs to answer keeps `approvals`. */
  open(desk: ChannelDesk): void;
  /**
   * The people this channel can reach now, as identities that the channel itself vouches for. Empty: nobody, and the
   * request goes to the next channel or is refused; never "everybody".
   */
  reaches(): Promise<readonly Identity[]>;
  /** The exact text shown for a card. `complete: false`: the whole call does not fit and this channel cannot approve it. */
  render(card: Card): { readonly text: string; readonly complete: boolean };
  /**
   * Shows one request to one person. Resolves with the proof once it is shown or accepted by a transport, not when it
   * is answered. @throws when it could not be shown: the desk tries again, then another channel, then refuses.
   * Called twice for the same request and person it shows it once.
   */
  deliver(delivery: Delivery): Promise<Delivered>;
  /** Brings what was shown to its final form and takes its buttons or its prompt away. */
  close(request: string, card: Card): Promise<void>;
  /** Says again that it waits. */
  remind(request: string, card: Card): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ChannelCapabilities {
  readonly edit: boolean;
  readonly reason: boolean;
  readonly links: boolean;
  /** The most that an answer through this channel can be worth. */
  readonly assurance: Assurance;
  /** `process`: lives and dies with this process. `shared`: any process of the desk can serve it. */
  readonly reach: "process" | "shared";
  /** Characters of one rendering; more is not complete. */
  readonly limit?: number;
  /** Milliseconds a prompt naturally waits, where neither rule, tool nor gate says. */
  readonly deadline?: number;
}

export interface ChannelDesk {
  readonly approvals: Approvals;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends a request whose answer the channel received but could not read (`channel_fault`). */
  fault(request: string, problem: string): Promise<void>;
  /** How often a conversation may ask again after an edit that could not be taken. */
  readonly editRetries: number;
  /** This person's edits could not be taken and are over (`invalid_edit`), unless somebody else could still decide. */
  endEdit(request: string, identity: Identity): Promise<void>;
  /** This channel's person passes the question on (`null` of a callback). */
  pass(request: string): Promise<void>;
}

export interface Delivery extends Presented {
  readonly to: Identity;
  /** Aborts when the request ended or the channel closes. */
  readonly signal: AbortSignalLike;
}
export interface AbortSignalLike {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export interface Delivered {
  /** `seen`: a complete view is on a live surface in front of the person. */
  readonly state: "offered" | "delivered" | "seen";
  /** The transport's own reference, for closing. */
  readonly ref?: string;
}

/** What a function that stands for a person may answer. `arguments` on an approve is an edit. */
export interface ChannelDecision {
  readonly verdict: "approve" | "reject";
  readonly reason?: string;
  readonly arguments?: JsonObject;
}
