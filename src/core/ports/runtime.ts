import type { Signal } from "../tool-call.ts";

/** The one seam to the platform: nothing in the core reads time, randomness, files or environment by itself. */

export interface Runtime {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly crypto: Crypto;
  readonly keys: Keys;
  readonly schemas: Schemas;
  readonly surroundings: Surroundings;
  readonly log: Log;
  /** A fresh abort source; `signal` is the platform's own, for tools to hand on. */
  aborter(): Aborter;
}

export interface Aborter {
  readonly signal: Signal;
  abort(reason?: unknown): void;
}

/** Wall time for records, one-shot waits of any length. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls `fire` once, after at least `ms` milliseconds of any size (a platform timer overflows at 24.8 days and would
   * fire at once: implementations chunk). The timer alone must not keep a process alive.
   * @returns cancels; calling it twice is fine
   */
  after(ms: number, fire: () => void): () => void;
}

export interface Ids {
  /** A UUIDv7: the name of a request. Not a secret. */
  request(): string;
  /** 128 random bits, 22 characters base64url: makes two requests for one call differ. */
  nonce(): string;
  /** 256 random bits, base64url: claim tokens, resume tokens. */
  token(): string;
  /** This process, in `node/<process id>` streams. Constant for the life of the runtime. */
  readonly process: string;
}

export interface Crypto {
  /** SHA-256 of the UTF-8 bytes, 64 lower-case hex digits. */
  sha256(text: string): string;
  /** HMAC-SHA256 of the UTF-8 bytes, base64url. */
  hmac(key: string, text: string): string;
  /** Constant-time comparison of two texts; texts of different length differ. */
  equal(a: string, b: string): boolean;
  /** Authenticated encryption. */
  seal(key: string, text: string): string;
  /** `undefined` when the sealed text was not made with this key or was changed. */
  open(key: string, sealed: string): string | undefined;
}

/** Keys of this installation, each for one purpose. They live outside the database. */
export interface Keys {
  readonly call: string;
  readonly view: string;
  readonly decision: string;
  /** `null`: this installation cannot seal; calls with secrets may then block, never suspend or defer. */
  readonly seal: string | null;
}

/** One fault of a value against a schema. `problem` describes and never quotes the value (P-19). */
export interface SchemaFault {
  readonly pointer: string;
  readonly problem: string;
}

/** JSON Schema 2020-12, checked without code generation. */
export interface Schemas {
  /** Faults of `value`; empty: valid. @throws when the schema itself is not usable */
  check(schema: unknown, value: unknown): Promise<readonly SchemaFault[]>;
}

/** What a descriptor's `binds` can name. Each answer is `undefined` where there is no such thing. */
export interface Surroundings {
  cwd(): string;
  env(name: string): string | undefined;
  /** The path with every link resolved; for a path that does not exist yet, its nearest existing parent resolved. */
  realPath(path: string, cwd: string): Promise<string | undefined>;
  /** `sha256:` and 64 hex digits over the file's bytes. */
  fileHash(path: string): Promise<string | undefined>;
  /** The account that runs this process, as in `os:<account>`. */
  account(): string;
}

export type LogLevel = "debug" | "info" | "warn" | "error";
/** Any logger with these four methods fits. Fields never hold an argument, reason or result. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;
