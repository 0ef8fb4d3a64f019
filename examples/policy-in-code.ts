/** Rules in code: deny beats holds beats allow, in any order. `node examples/policy-in-code.ts`. */
import assert from "node:assert/strict";
import { createGate, type Policy } from "holdpoint";
import { callbackChannel } from "holdpoint/channels/callback";

const policy: Policy = {
  rules: [
    { allow: "payments/*", when: ({ arguments: { amount } }) => typeof amount === "number" && amount < 100 },
    {
      name: "large",
      ask: "payments/transfer",
      when: ({ arguments: { amount } }) => amount !== undefined && Number(amount) >= 10_000,
      approvers: ["group:finance"],
      quorum: 2,
      deadline: "15m",
    },
    { deny: "payments/transfer", when: ({ arguments: { to } }) => to === "acct-blocked", reason: "this account is closed" },
  ],
  approvers: { "group:finance": ["ben", "cleo"] },
};

const asked: string[] = [];
const approver = (who: string) =>
  callbackChannel(
    async (card) => {
      asked.push(`${who}: ${String(card.arguments.amount)}`);
      return { verdict: "approve" };
    },
    { name: who, as: who },
  );
const gate = createGate({ policy, channels: [approver("ben"), approver("cleo")], defaultChannel: ["ben", "cleo"] });
gate.tool({ name: "payments/transfer", tier: "physical", run: ({ amount }) => `moved ${String(amount)}` });
const run = gate.run({ principal: "ada" });

assert.equal(await run.call("payments/transfer", { to: "acct-1", amount: 50 }), "moved 50");
assert.deepEqual(asked, [], "a small one runs by an allow rule");

assert.equal(await run.call("payments/transfer", { to: "acct-1", amount: 20_000 }), "moved 20000");
assert.deepEqual(asked, ["ben: 20000", "cleo: 20000"], "a large one wants two of finance");

const denied = await run.try("payments/transfer", { to: "acct-blocked", amount: 1 });
assert.ok(denied.status === "refused" && denied.code === "denied" && denied.reason === "this account is closed");

const check = await run.check("payments/transfer", { to: "acct-1", amount: 500 });
assert.equal(check.verdict, "ask", "what no rule frees asks, since the tool acts on the world");

await gate[Symbol.asyncDispose]();
console.log("policy-in-code: allowed, asked twice, denied, and checked without asking");
