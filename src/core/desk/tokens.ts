import { instant, type Instant } from "../instant.ts";
import type { Actor } from "../journal.ts";
import type { JsonObject, JsonValue } from "../json-value.ts";
import type { Identity } from "../ports/approvals.ts";
import type { Runtime } from "../ports/runtime.ts";
import type { Row, Store } from "../ports/store.ts";
import { carefulStore } from "./careful-store.ts";
import type { EventStream } from "./events.ts";
import { journalWriter, recorded } from "./journal-writer.ts";

export const TOKEN_ROLES = ["agent", "approver", "admin"] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

/** What a bearer token stands for. The token itself is stored nowhere. */
export interface TokenInfo {
  readonly id: string;
  readonly role: TokenRole;
  /** `approver`, `admin`: who it is. `agent`: whom it may act for; none: a service identity that many share. */
  readonly principals: readonly string[];
  readonly agent: string | null;
  readonly label: string | null;
  readonly by: string;
  readonly at: Instant;
}

/** Bearer tokens of a desk: made and revoked in one commit with their journal entry, found by their hash. */
export interface Tokens {
  /** @returns the token, this once */
  make(
    wanted: Pick<TokenInfo, "role" | "principals" | "agent" | "label">,
    as: Identity,
  ): Promise<TokenInfo & { readonly token: string }>;
  list(): Promise<readonly TokenInfo[]>;
  /** False: no such token, or revoked already. */
  revoke(id: string, as: Identity): Promise<boolean>;
  find(token: string): Promise<TokenInfo | undefined>;
}

export interface TokensParts {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly events: EventStream;
  /** Default `default`. */
  readonly tenant?: string;
}

/** Begins every token, so that one that leaks is recognised by whoever scans for secrets. */
const PREFIX = "hpt_";

const text = (value: JsonValue | undefined): string | null => (typeof value === "string" ? value : null);

/** What was stored, read anew: a row that says no known role is nobody's token. */
function infoOf({ value }: Row): TokenInfo | undefined {
  const role = TOKEN_ROLES.find((known) => known === value.role);
  const { principals } = value;
  if (role === undefined || !Array.isArray(principals)) return undefined;
  return {
    id: String(value.id),
    role,
    principals: principals.map(String),
    agent: text(value.agent),
    label: text(value.label),
    by: String(value.by),
    at: String(value.at) as Instant,
  };
}

const actorOf = ({ principal, as, via }: Identity): Actor => ({ principal, as, via });

class TokenBook implements Tokens {
  readonly #parts: TokensParts;
  readonly #tenant: string;
  readonly #journal: ReturnType<typeof journalWriter>;
  readonly #store: Store;

  constructor(parts: TokensParts) {
    this.#parts = parts;
    this.#tenant = parts.tenant ?? "default";
    this.#store = carefulStore(parts.store);
    this.#journal = journalWriter({ ...parts, store: this.#store, tenant: this.#tenant });
  }

  #keyOf(token: string): string {
    return `${this.#tenant}:${this.#parts.runtime.crypto.sha256(token)}`;
  }

  async make(...[wanted, as]: Parameters<Tokens["make"]>): Promise<TokenInfo & { readonly token: string }> {
    const { ids, clock } = this.#parts.runtime;
    const token = `${PREFIX}${ids.token()}`;
    const { role, principals, agent, label } = wanted;
    const info: TokenInfo = {
      id: ids.nonce(),
      role,
      principals: [...principals],
      agent,
      label,
      by: as.principal,
      at: instant(clock.now()),
    };
    await recorded(this.#journal, {
      rows: [{ kind: "token", key: this.#keyOf(token), expect: null, next: { ...info } as JsonObject }],
      node: [
        {
          event: "token.made",
          actor: actorOf(as),
          data: { token: info.id, role, principals: info.principals, agent },
        },
      ],
    });
    return { ...info, token };
  }

  async #rows(): Promise<readonly { readonly row: Row; readonly info: TokenInfo }[]> {
    const found = [];
    for await (const row of this.#store.rows({ kind: "token", keyPrefix: `${this.#tenant}:` })) {
      const info = infoOf(row);
      if (info !== undefined) found.push({ row, info });
    }
    return found;
  }

  async list(): Promise<readonly TokenInfo[]> {
    return (await this.#rows()).map(({ info }) => info);
  }

  async revoke(id: string, as: Identity): Promise<boolean> {
    const found = (await this.#rows()).find(({ info }) => info.id === id);
    if (found === undefined) return false;
    const { key, rev } = found.row;
    const written = await this.#journal.write({
      rows: [{ kind: "token", key, expect: rev, next: null }],
      node: [{ event: "token.revoked", actor: actorOf(as), data: { token: id, role: found.info.role } }],
    });
    return written.ok;
  }

  async find(token: string): Promise<TokenInfo | undefined> {
    const row = await this.#store.row("token", this.#keyOf(token));
    return row === undefined ? undefined : infoOf(row);
  }
}

/** The bearer tokens that are kept in a desk's store. */
export const tokenBook = (parts: TokensParts): Tokens => new TokenBook(parts);
