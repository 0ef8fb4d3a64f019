// Target 18: an allowed tools/call through the relay, stdio both ways, takes at most 1.5 times the round trip through a bare
// pass-through proxy written on @modelcontextprotocol/sdk 1.32.2 (Client + Server). Interleaved in random order; prints the
// ratio and fails above the target. Needs `npm ci` in test/e2e.
//   node bench/gateway.mjs [rounds] [-- gateway command up to and including its own "--"]
// A gateway command replaces the relay with a gate in memory, so that the command line can be measured as well.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { loadavg } from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";

const TARGET = 1.5;
const SELF = fileURLToPath(import.meta.url);
const CALLS_PER_ROUND = 400;
const WARM_UP = 1000;
/** About 1 KB, as in the other benchmarks. */
const ARGUMENTS = {
  to: ["alice@example.com", "bob@example.com"],
  subject: "Invoice 2024-117: please pay by Friday",
  amount: 1234.56,
  urgent: false,
  body: "Dear all, the invoice is attached. ".repeat(22),
};

/** The server of every contender: as little work as possible. */
function serve() {
  const answer = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const { id, method, params } = JSON.parse(line);
      if (method === "initialize")
        answer(id, {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "bench", version: "1" },
        });
      else if (method === "tools/list") answer(id, { tools: [{ name: "echo", inputSchema: { type: "object" } }] });
      else if (method === "tools/call") answer(id, { content: [{ type: "text", text: params.arguments.body }] });
    }
  });
  process.stdin.on("end", () => process.exit(0));
}

const sdk = async (path) => {
  const require = createRequire(new URL("../test/e2e/package.json", import.meta.url));
  return import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${path}`)).href);
};

/** What anyone would write: a client upstream, a low-level server downstream, tools/list and tools/call passed through. */
async function proxy(command) {
  const [{ Client }, { StdioClientTransport }, { Server }, { StdioServerTransport }, types] = await Promise.all(
    ["client/index.js", "client/stdio.js", "server/index.js", "server/stdio.js", "types.js"].map(sdk),
  );
  const client = new Client({ name: "proxy", version: "1" });
  await client.connect(new StdioClientTransport({ command: command[0], args: command.slice(1) }));
  const server = new Server({ name: "proxy", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(types.ListToolsRequestSchema, ({ params }) => client.listTools(params));
  server.setRequestHandler(types.CallToolRequestSchema, ({ params }) => client.callTool(params));
  await server.connect(new StdioServerTransport());
  process.stdin.on("end", () => client.close().then(() => process.exit(0)));
}

/** The relay with the real gate behind it, whose policy allows the tool; `record` is what the journal keeps of that. */
async function relay([record, file, ...args]) {
  const [{ relayOverStdio, gateJudge }, { createGate }] = await Promise.all([
    import("../src/gateway/index.ts"),
    import("../src/index.ts"),
  ]);
  const log = { debug: () => undefined, info: () => undefined, warn: console.error, error: console.error };
  const gate = createGate({ policy: { rules: [{ allow: "bench/echo" }], record }, operator: "os:bench" });
  const judge = gateJudge({ gate, server: "bench", command: [file, ...args], principal: "os:bench", waiting: (tool) => tool });
  const { code } = await relayOverStdio({ server: "bench", command: { file, args }, judge, log });
  await gate[Symbol.asyncDispose]();
  process.exit(code);
}

/** One contender, connected. `call` is one round trip. */
async function connect(command) {
  const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  let rest = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  let id = 0;
  const ask = (method, params) =>
    new Promise((resolve) => {
      id += 1;
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } });
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  await ask("tools/list", {});
  const call = async () => {
    const { result } = await ask("tools/call", { name: "echo", arguments: ARGUMENTS });
    if (result?.content?.[0]?.text !== ARGUMENTS.body) throw new Error(`not the tool's answer: ${JSON.stringify(result)}`);
  };
  return { call, end: () => child.stdin.end() };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function round(call) {
  const samples = [];
  for (let count = 0; count < CALLS_PER_ROUND; count++) {
    const from = performance.now();
    await call();
    samples.push((performance.now() - from) * 1000);
  }
  return median(samples);
}

async function measure(rounds, gatewayCommand) {
  const server = [process.execPath, SELF, "--as", "server"];
  const as = (...what) => [process.execPath, "--disable-warning=ExperimentalWarning", SELF, "--as", ...what, ...server];
  const gateway = gatewayCommand === undefined ? as("relay", "none") : [...gatewayCommand, ...server];
  const commands = { direct: server, proxy: as("proxy"), gateway, "gateway, record: calls (memory)": as("relay", "calls") };
  const names = Object.keys(commands);
  const contenders = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await connect(commands[name])])));
  for (const name of names) for (let count = 0; count < WARM_UP; count++) await contenders[name].call();
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let count = 0; count < rounds; count++) {
    for (const name of [...names].sort(() => Math.random() - 0.5)) times[name].push(await round(contenders[name].call));
  }
  for (const name of names) contenders[name].end();
  const ratios = (a, b) => median(times[a].map((time, index) => time / times[b][index]));
  console.log(
    `## gateway: round trip of one allowed tools/call, 1 KB. Node ${process.version}, load ${loadavg()[0].toFixed(1)}, ${rounds} rounds of ${CALLS_PER_ROUND}\n`,
  );
  console.log("| through | µs, median of medians | min..max of rounds |\n|---|---|---|");
  for (const name of names) {
    console.log(
      `| ${name} | ${median(times[name]).toFixed(0)} | ${Math.min(...times[name]).toFixed(0)}..${Math.max(...times[name]).toFixed(0)} |`,
    );
  }
  const ratio = ratios("gateway", "proxy");
  const added = median(
    times.gateway.map((time, index) => (time - times.direct[index]) / (times.proxy[index] - times.direct[index])),
  );
  console.log(
    `\ngateway / proxy: ${ratio.toFixed(2)} (target at most ${TARGET}); what each adds to the direct call: ${added.toFixed(2)}`,
  );
  process.exitCode = ratio <= TARGET ? 0 : 1;
}

const own = process.argv.slice(2);
if (own[0] === "--as") await { server: serve, proxy, relay }[own[1]](own.slice(2));
else {
  const at = own.indexOf("--");
  const rounds = Number(own[0] ?? 15);
  await measure(Number.isInteger(rounds) && rounds > 0 ? rounds : 15, at === -1 ? undefined : own.slice(at + 1));
}
