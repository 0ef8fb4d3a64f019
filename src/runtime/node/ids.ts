import { randomBytes } from "node:crypto";
import type { Clock, Ids } from "../../core/index.ts";

const COUNTER_END = 0x1000;
/** The counter starts in its lower half, so that a millisecond has room for 2,048 ids before the time must move on. */
const COUNTER_START = 0x800;

const POOL_BYTES = 8192;
let pool = Buffer.alloc(0);

/** Bytes of the system's random source, fetched many at a time: each fetch costs as much as all else in an id. Given out once. */
function randomBytesOf(size: number): Buffer {
  if (pool.length < size) pool = randomBytes(POOL_BYTES);
  const bytes = pool.subarray(0, size);
  pool = pool.subarray(size);
  return bytes;
}

/** Ids from the system's random source. Within one `Ids`, each request id sorts after the one before it, whatever the clock does. */
export function randomIds(clock: Pick<Clock, "now">): Ids {
  return {
    request: requestIds(clock),
    nonce: () => randomBytesOf(16).toString("base64url"),
    token: () => randomBytesOf(32).toString("base64url"),
    process: randomBytes(16).toString("hex"),
  };
}

/** RFC 9562, version 7: 48 bits of milliseconds, a counter in the 12 bits behind them (6.2, method 1), 62 random bits. */
function requestIds(clock: Pick<Clock, "now">): () => string {
  let last = -1;
  let counter = 0;
  return () => {
    const now = Math.max(0, Math.floor(clock.now()));
    const bytes = randomBytesOf(16);
    if (now > last) {
      last = now;
      counter = bytes.readUInt16BE(6) % COUNTER_START;
    } else if (++counter === COUNTER_END) {
      last += 1;
      counter = 0;
    }
    bytes.writeUIntBE(last, 0, 6);
    bytes.writeUInt16BE(0x7000 | counter, 6);
    bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
    return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  };
}
