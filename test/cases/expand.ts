/** The shorthands of the case files (`$repeat`, `$concat`, `$times`, `$manyKeys`, `$nest`), and values that JSON cannot carry. */

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

type Shorthand = (given: unknown) => unknown;

const pair = (given: unknown): readonly [unknown, unknown] => {
  if (Array.isArray(given) && given.length === 2) return [given[0], given[1]];
  throw new Error(`a shorthand of two parts was given ${JSON.stringify(given)}`);
};

function repeat(given: unknown): unknown {
  const [unit, count] = pair(given);
  return String(expand(unit)).repeat(Number(count));
}

function concat(given: unknown): unknown {
  if (!Array.isArray(given)) throw new Error("$concat takes a list");
  return given.map((part) => String(expand(part))).join("");
}

function times(given: unknown): unknown {
  const [count, one] = pair(given);
  return Array.from({ length: Number(count) }, () => expand(one));
}

function manyKeys(given: unknown): unknown {
  const { prefix, count, value, then } = given as { prefix: string; count: number; value: unknown; then?: object };
  const many: Record<string, unknown> = {};
  for (let key = 1; key <= count; key += 1) many[`${prefix}${key}`] = expand(value);
  return { ...many, ...(expand(then ?? {}) as object) };
}

function nest(given: unknown): unknown {
  const { depth, leaf } = given as { depth: number; leaf: unknown };
  let value = expand(leaf);
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return value;
}

const SHORTHANDS: Readonly<Record<string, Shorthand>> = {
  $repeat: repeat,
  $concat: concat,
  $times: times,
  $manyKeys: manyKeys,
  $nest: nest,
  $date: (text) => new Date(String(text)),
  $bigint: (text) => BigInt(String(text)),
  $set: (items) => new Set(items as unknown[]),
  $map: (items) => new Map(items as [unknown, unknown][]),
  $function: () => (): undefined => undefined,
  $undefined: () => undefined,
};

/** A value of a case file with every shorthand written out. Anything else comes back as it is, `__proto__` members too. */
export function expand(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => expand(item));
  if (!isObject(value)) return value;
  const keys = Object.keys(value);
  const only = keys.length === 1 ? keys[0] : undefined;
  const shorthand = only === undefined || !Object.hasOwn(SHORTHANDS, only) ? undefined : SHORTHANDS[only];
  if (only !== undefined && shorthand !== undefined) return shorthand(value[only]);
  const whole: Record<string, unknown> = {};
  for (const key of keys)
    Object.defineProperty(whole, key, { value: expand(value[key]), enumerable: true, writable: true, configurable: true });
  return whole;
}
