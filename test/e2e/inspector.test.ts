import { describe, expect, it } from "vitest";
import { EVERYTHING, gated, inspect } from "./peers.ts";
import type { Inspected } from "./peers.ts";

const run = "run";
const ALLOWED = gated(
  {
    echo: run,
    "get-sum": run,
    "get-annotated-message": run,
    "get-structured-content": run,
    "get-tiny-image": run,
    "get-resource-links": run,
    "get-resource-reference": run,
    "gzip-file-as-resource": run,
    "trigger-long-running-operation": run,
    "toggle-simulated-logging": run,
  },
  EVERYTHING,
);

/** This server asks for the client's roots on a timer of its own, so a run that is faster by a moment ends before that. */
const BY_TIMER = /^.*("method":"roots\/list"|\{"roots":\[\]\}|Roots updated: ).*\n/gm;

/** Two runs without what depends on the time of day and on how fast they were. */
const timeless = ({ code, stdout, sent, received }: Inspected): Inspected => {
  const without = (text: string): string =>
    text.replace(/\d{1,2}:\d\d:\d\d( [AP]M)?|\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>").replace(BY_TIMER, "");
  return { code, stdout: without(stdout), sent: without(sent), received: without(received) };
};

const call = (tool: string, ...args: string[]): string[] => [
  "--method",
  "tools/call",
  "--tool-name",
  tool,
  ...args.flatMap((arg) => ["--tool-arg", arg]),
];

describe.concurrent("server-everything driven by the inspector: with the relay and without it, byte for byte", () => {
  it.each<[string, string[]]>([
    ["tools/list", ["--method", "tools/list"]],
    ["resources/list", ["--method", "resources/list"]],
    ["resources/templates/list", ["--method", "resources/templates/list"]],
    ["resources/read", ["--method", "resources/read", "--uri", "demo://resource/dynamic/text/1"]],
    ["prompts/list", ["--method", "prompts/list"]],
    ["prompts/get", ["--method", "prompts/get", "--prompt-name", "args-prompt", "--prompt-args", "city=İzmir", "state=Ege"]],
    ["logging/setLevel", ["--method", "logging/setLevel", "--log-level", "debug"]],
    ["a text", call("echo", "message=Grüße 😀\u2028 x")],
    ["a sum", call("get-sum", "a=2", "b=40")],
    ["structured content", call("get-structured-content", "location=Chicago")],
    ["an image", call("get-tiny-image")],
    ["annotations", call("get-annotated-message", "messageType=error", "includeImage=true")],
    ["links", call("get-resource-links", "count=3")],
    ["an embedded resource", call("get-resource-reference", "resourceType=Text", "resourceId=1")],
    ["a call that takes a while, with progress", call("trigger-long-running-operation", "duration=1", "steps=4")],
    ["arguments that the server refuses", call("get-sum", "a=x")],
  ])("%s", async (_what, args) => {
    const [plain, relayed] = await Promise.all([inspect(EVERYTHING, args), inspect(ALLOWED, args)]);
    expect(plain.received.length).toBeGreaterThan(100);
    expect(timeless(relayed)).toEqual(timeless(plain));
  });
});

describe.concurrent("a call that is refused", () => {
  it("is a result that the inspector prints, and never reached the server", async () => {
    const refused = await inspect(
      gated({ echo: { text: 'Not run: a person rejected "test/echo".' } }, EVERYTHING),
      call("echo", "message=hi"),
    );
    expect(JSON.parse(refused.stdout)).toEqual({
      content: [{ type: "text", text: 'Not run: a person rejected "test/echo".' }],
      isError: true,
    });
    expect(refused.received).not.toContain("Echo: hi");
  });

  it("an edit is what runs, and the model is told what did", async () => {
    const edited = await inspect(gated({ echo: { arguments: { message: "edited" } } }, EVERYTHING), call("echo", "message=hi"));
    const ran = 'A person changed the arguments of "test/echo" before it ran. It ran with: {"message":"edited"}';
    const texts = [ran, "Echo: edited"];
    expect(JSON.parse(edited.stdout)).toEqual({ content: texts.map((text) => ({ type: "text", text })) });
    expect(edited.sent).toContain('"message":"hi"');
  });
});
