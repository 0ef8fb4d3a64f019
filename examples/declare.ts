/** The ways to say that a call asks: words on a tool, `confirm` on a function, a toolkit. `node examples/declare.ts`. */
import assert from "node:assert/strict";
import { confirm, createGate, isRefused, toolkit } from "holdpoint";
import { callbackChannel } from "holdpoint/channels/callback";

const asked: string[] = [];
const ada = callbackChannel(
  async (card) => {
    asked.push(card.message);
    return { verdict: "approve" };
  },
  { as: "ada" },
);
const gate = createGate({ channels: [ada] });
const run = gate.run({ principal: "ada" });

// A function as before, same type in, same type out.
const sendMail = confirm("Send to {to}")(async (mail: { to: string; body: string }) => `sent to ${mail.to}`);
const safeMail = run.guard(sendMail, { name: "send_mail" });
assert.equal(await safeMail({ to: "bob@example.com", body: "hello" }), "sent to bob@example.com");

// Outside a gate nobody was asked, so a marked function refuses.
try {
  await sendMail({ to: "eve@example.com", body: "psst" });
  assert.fail("it ran outside a gate");
} catch (thrown) {
  assert.ok(isRefused(thrown) && thrown.code === "no_gate");
}

// A toolkit: its methods are tools, and it names those that ask.
class Files {
  readonly confirming = ["remove"];
  readonly #names = new Set(["a", "b"]);
  list(): string[] {
    return [...this.#names];
  }
  remove({ name }: { name: string }): boolean {
    return this.#names.delete(name);
  }
}
gate.tools(toolkit(new Files(), { prefix: "files/", describe: { list: { tier: "read" } } }));
assert.equal(await run.call("files/remove", { name: "a" }), true);
assert.deepEqual(await run.call("files/list", {}), ["b"]);
assert.deepEqual(asked, ["Send to bob@example.com", "files/remove with: name=a"]);

await gate[Symbol.asyncDispose]();
console.log("declare: a function, a mark outside a gate and a toolkit behave as declared");
