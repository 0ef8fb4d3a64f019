import { asWritten, checkPointers, declaredDuration } from "../declared.ts";
import { DeclarationError } from "../errors.ts";
import { prerequisite } from "../grant.ts";
import { type Hash, hashOf } from "../hash.ts";
import { checkConfirmation, confirmationOf } from "../hold.ts";
import { copyJson } from "../json.ts";
import { messageFault } from "../briefing.ts";
import type { JsonObject } from "../json-value.ts";
import { type Mark, marksOf, originalOf } from "../declare.ts";
import { commonPart, EVERYTHING } from "../editable.ts";
import type { PolicySnapshot } from "../policy.ts";
import type { Crypto } from "../ports/runtime.ts";
import {
  type Confirmation,
  type Impact,
  IMPACTS,
  type InputSchema,
  type Requires,
  type Tier,
  type Tool,
  type ToolDescriptor,
  type ToolIdentity,
  TIERS,
} from "../tool-call.ts";

/** ASCII names only: a name that looks like another is not another's tool (A08), and none can carry a line break (A17). */
const NAME = /^[A-Za-z0-9_.:@-]+(?:\/[A-Za-z0-9_.:@-]+)*$/;
const NAME_LENGTH = 256;

/** A declared tool, checked once. */
export interface KnownTool {
  /** Plain, with the function that really runs. */
  readonly tool: Tool;
  readonly floors: Descriptor["floors"];
  readonly identity: ToolIdentity;
  /** JSON Schema of the input where one is known. */
  readonly schema: JsonObject | null;
}

/** A tool as this run's policy sees it: what code says, refined by what the policy says. */
export interface Descriptor extends Omit<ToolDescriptor, "confirm" | "definition" | "requires"> {
  /** Grants: of the code, then of each policy entry that names one. All are wanted. */
  readonly requires: readonly Requires[];
  /** Floors: of the code, then of each policy entry that has one. All hold. */
  readonly floors: readonly { readonly by: string; readonly confirm: Confirmation }[];
}

export const isStandardSchema = (schema: InputSchema): schema is Extract<InputSchema, { "~standard": unknown }> =>
  "~standard" in schema && typeof schema["~standard"] === "object";

type Convertible = {
  toJSONSchema?: () => unknown;
  "~standard"?: { jsonSchema?: { input?: (options: { target: string }) => unknown } };
};

/** The JSON Schema behind an input schema, where its library can say; it goes into the definition and the edit form. */
function jsonSchemaOf(input: InputSchema | undefined): JsonObject | null {
  if (input === undefined) return null;
  try {
    if (!isStandardSchema(input)) return copyJson(input) as JsonObject;
    const library = input as Convertible;
    const schema = library["~standard"]?.jsonSchema?.input?.({ target: "draft-2020-12" }) ?? library.toJSONSchema?.();
    return schema === undefined ? null : (copyJson(schema) as JsonObject);
  } catch {
    return null;
  }
}

const oneOf = (tool: string, member: string, check: { value: unknown; allowed: readonly string[] }): void => {
  if (check.value !== undefined && !check.allowed.includes(check.value as string)) {
    throw new DeclarationError(`tool "${tool}": ${member} "${String(check.value)}" is not one of ${check.allowed.join(", ")}`);
  }
};

function checkMessage(name: string, confirm: ToolDescriptor["confirm"], schema: JsonObject | null): void {
  const message = confirmationOf(confirm)?.message;
  const fault = typeof message === "string" ? messageFault(message, schema) : undefined;
  if (fault !== undefined) throw new DeclarationError(`tool "${name}": ${fault}`);
}

/**
 * Checks a declaration and names the tool for hashes.
 * @throws DeclarationError naming tool, member and fix; nothing is registered then
 */
export function knownTool(tool: Tool, crypto: Crypto): KnownTool {
  // Read once: a getter could give one function to be looked at and another to be run.
  const { name, run } = tool;
  if (typeof name !== "string" || name.length > NAME_LENGTH || !NAME.test(name)) {
    throw new DeclarationError(
      `a tool name is ASCII letters, digits and _ . : @ - in parts joined by "/", not ${JSON.stringify(String(name).slice(0, 60))}`,
    );
  }
  if (typeof run !== "function") throw new DeclarationError(`tool "${name}": give it a run function`);
  oneOf(name, "tier", { value: tool.tier, allowed: TIERS });
  oneOf(name, "impact", { value: tool.impact, allowed: IMPACTS });
  const schema = jsonSchemaOf(tool.input);
  const marks = [...new Set([...marksOf(tool), ...marksOf(run)])];
  const floors = ownFloors(tool, marks);
  for (const { confirm } of floors) {
    checkConfirmation(`tool "${name}"`, confirm);
    checkMessage(name, confirm, schema);
  }
  if (tool.requires !== undefined) prerequisite(tool.requires, name);
  if (tool.timeout !== undefined && !(declaredDuration(`tool "${name}": timeout`, tool.timeout) > 0))
    throw new DeclarationError(
      `tool "${name}": a timeout of ${String(tool.timeout)} would end every call; leave it out for none`,
    );
  checkPointers(`tool "${name}": secrets`, tool.secrets ?? []);
  checkPointers(`tool "${name}": editable`, tool.editable ?? []);
  checkPointers(`tool "${name}": ignore`, tool.ignore ?? []);
  checkPointers(`tool "${name}": binds`, [...(tool.binds?.paths ?? []), ...(tool.binds?.files ?? [])]);
  return {
    tool: plainCopy(tool, { run, marks, schema }),
    floors,
    schema,
    identity: Object.freeze({ name, origin: tool.origin ?? "code", definition: definitionOf(tool, schema, crypto) }),
  };
}

function definitionOf(tool: Tool, input: JsonObject | null, crypto: Crypto): Hash {
  const { name, version = null, definition } = tool;
  return hashOf(crypto, { type: "holdpoint/definition/v1", ...(definition ?? { server: null, tool: { name, input, version } }) });
}

/** Flags of other frameworks that say "ask": each counts as a floor, whatever it is but exactly false. */
const FOREIGN_FLAGS = ["needsApproval", "requireApproval", "requiresConfirmation"] as const;

/** Everything a tool's own code demands: its `confirm`, marks put on it, another framework's flag. All hold. */
function ownFloors(tool: ToolDescriptor, marks: readonly Mark[]): Descriptor["floors"] {
  const own = confirmationOf(tool.confirm);
  const flags = FOREIGN_FLAGS.filter((flag) => {
    const said = (tool as unknown as Record<string, unknown>)[flag];
    return said !== undefined && said !== false;
  });
  const stated = [
    ...(own === undefined ? [] : [{ by: "tool", confirm: own }]),
    ...marks.map(({ confirm }) => ({ by: "tool", confirm })),
    ...flags.map((flag) => ({ by: flag, confirm: {} })),
  ];
  return stated.map(({ by, confirm }) => ({ by, confirm: isWords(confirm) ? asWritten(confirm) : confirm }));
}

/** What is no object of words is refused by name a little later. */
const isWords = (confirm: unknown): confirm is Confirmation => typeof confirm === "object" && confirm !== null;

/** The gravest impact that the declaration or a mark on it states. */
const impactOf = (tool: Tool, marks: readonly Mark[]): Impact | undefined =>
  [tool.impact, ...marks.map((mark) => mark.impact)].reduce(
    (gravest, said) => (IMPACTS.indexOf(said ?? "default") > IMPACTS.indexOf(gravest ?? "default") ? said : (gravest ?? said)),
    undefined,
  );

const MEMBERS = [
  "name",
  "description",
  "input",
  "tier",
  "effect",
  "requires",
  "binds",
  "secrets",
  "editable",
  "edits",
  "ignore",
  "version",
  "origin",
  "definition",
  "timeout",
] as const satisfies readonly (keyof Tool)[];

/** A tool of our own, whatever class or prototype it came with: later changes of the original change nothing here. */
function plainCopy(tool: Tool, read: { run: Tool["run"]; marks: readonly Mark[]; schema: JsonObject | null }): Tool {
  const copy: Record<string, unknown> = {};
  for (const member of MEMBERS) {
    const said = tool[member];
    if (said !== undefined) copy[member] = typeof said === "object" && member !== "input" ? asWritten(said) : said;
  }
  // A library's schema is its own object; a JSON Schema is data, kept as it was.
  if (tool.input !== undefined && read.schema !== null && !isStandardSchema(tool.input)) copy.input = read.schema;
  const impact = impactOf(tool, read.marks);
  if (impact !== undefined) copy.impact = impact;
  const run = originalOf(read.run as never);
  copy.run = (args: never, context: never) => run.call(tool as never, args, context);
  return copy as unknown as Tool;
}

/** What the policy's entries make of a tool; later entries refine earlier ones, and their floors add up. */
export function describe({ tool, floors }: KnownTool, policy: PolicySnapshot): Descriptor {
  const { run: _run, timeout: _timeout, definition: _definition, requires: own, ...rest } = tool;
  let descriptor: Descriptor = { ...rest, floors, requires: own === undefined ? [] : [own] };
  for (const { glob, entry } of policy.entries) {
    if (!glob.matches(tool.name)) continue;
    const { match: _match, confirm: more, message: _message, editable, secrets, requires, ...refined } = entry;
    const floor = confirmationOf(more);
    descriptor = {
      ...descriptor,
      ...refined,
      ...(editable === undefined ? {} : { editable: commonPart(descriptor.editable ?? EVERYTHING, editable) }),
      ...(secrets === undefined ? {} : { secrets: [...(descriptor.secrets ?? []), ...secrets] }),
      requires: requires === undefined ? descriptor.requires : [...descriptor.requires, requires],
      floors: floor === undefined ? descriptor.floors : [...descriptor.floors, { by: "policy", confirm: floor }],
    };
  }
  return descriptor;
}

export function graverTier(own: Tier | undefined, parents: Tier | undefined): Tier | undefined {
  if (parents === "physical") return parents;
  return own !== undefined && parents !== undefined && TIERS.indexOf(parents) > TIERS.indexOf(own) ? parents : own;
}

export const graverImpact = (own: Impact = "default", parents: Impact = "default"): Impact =>
  IMPACTS.indexOf(parents) > IMPACTS.indexOf(own) ? parents : own;

/** What a parent's policy says of a tool holds below it too: its secrets, what it lets edit, how grave it is (P-17). */
function below(own: Descriptor, parent: Descriptor): Descriptor {
  const { tier: _tier, ignore: _ignore, ...rest } = own;
  const tier = graverTier(own.tier, parent.tier);
  return {
    ...rest,
    ...(tier === undefined ? {} : { tier }),
    ...(parent.ignore === undefined ? {} : { ignore: parent.ignore }),
    impact: graverImpact(own.impact, parent.impact),
    secrets: [...new Set([...(own.secrets ?? []), ...(parent.secrets ?? [])])],
    editable: commonPart(own.editable ?? EVERYTHING, parent.editable ?? EVERYTHING),
  };
}

/** A tool as a run knows it, whose own policy comes first and those of its parents after it. */
export const describeBelow = (known: KnownTool, policies: readonly [PolicySnapshot, ...PolicySnapshot[]]): Descriptor =>
  policies
    .slice(1)
    .map((policy) => describe(known, policy))
    .reduce(below, describe(known, policies[0]));
