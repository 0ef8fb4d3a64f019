import { describe, expect, it } from "vitest";
import { bench, evidenceOf, identity, rowsOf, standing, submissionOf, viewOf } from "./desk.test-kit.ts";

const ADA = identity("ada");

async function suspended(over: Parameters<typeof submissionOf>[1] = {}) {
  const on = bench();
  const submission = submissionOf(on, { wait: "suspend", ...over });
  const ruling = await on.desk.submit(submission);
  await on.clock.settle();
  if (ruling.ruling !== "held" || ruling.resumeToken === undefined) throw new Error("no token was given out");
  return { on, submission, id: ruling.request, token: ruling.resumeToken };
}

describe("a resume token", () => {
  it("is given out once, with the request's id in it, and stored as a hash alone", async () => {
    const { on, id, token } = await suspended();
    expect(token).toMatch(new RegExp(`^hp1\\.${id}\\.[\\w-]{43}$`));
    expect(JSON.stringify([await rowsOf(on.store, "token"), (await standing(on, id)).record])).not.toContain(token.split(".")[2]);
  });

  it("is made for what does not block, and for whoever says that it may leave", async () => {
    const on = bench();
    expect(await on.desk.submit(submissionOf(on))).not.toHaveProperty("resumeToken");
    expect(await on.desk.submit(submissionOf(on, { args: { n: 2 }, resumable: true }))).toHaveProperty("resumeToken");
    expect(await on.desk.submit(submissionOf(on, { args: { n: 3 }, wait: "defer", resumable: false }))).not.toHaveProperty(
      "resumeToken",
    );
  });

  it("says where its request stands, and what an edit made of it", async () => {
    const { on, id, token, submission } = await suspended();
    expect(await on.desk.resume(token, submission.requester)).toMatchObject({ status: "pending", record: { id } });
    await on.desk.approvals.edit(id, { ...(await viewOf(on, id, ADA)), arguments: { to: "x", amount: 1 } }, ADA);
    expect(await on.desk.resume(token, submission.requester)).toMatchObject({
      status: "approved",
      record: { supersedes: id },
      edited: { by: "ada" },
    });
  });

  it("P-01 is nothing to another principal, malformed, another's, or over", async () => {
    const { on, token, submission } = await suspended();
    const { requester } = submission;
    const [version, id, secret] = token.split(".");
    expect(await on.desk.resume(token, { ...requester, principal: "eve" })).toBeUndefined();
    const bad = [
      `hp2.${id}.${secret}`,
      `hp1.${id}`,
      "hp1",
      "",
      `${token}.x`,
      `${version}.${id}.${"A".repeat(43)}`,
      `hp1.none.${secret}`,
    ];
    for (const wrong of bad) expect(await on.desk.resume(wrong, requester)).toBeUndefined();
    expect(await on.desk.resume(7 as never, requester)).toBeUndefined();
    await on.clock.advance(3 * 86_400_000);
    expect(await on.desk.resume(token, requester)).toBeUndefined();
  });

  it("P-03 lets another session claim once, is spent by it, and tells how it ended afterwards", async () => {
    const { on, id, token, submission } = await suspended();
    const other = await suspended();
    await on.channel.answer(id, "approve");
    const elsewhere = { ...submission.requester, run: "another" };
    const evidence = evidenceOf(submission, { requester: elsewhere });
    const refused = { ok: false, refusal: { code: "invalid_token" }, status: null };
    expect(await on.desk.claim(id, evidence)).toEqual(refused);
    expect(await on.desk.claim(id, { ...evidence, resumeToken: other.token })).toEqual(refused);
    const second = submissionOf(on, { wait: "suspend", args: { n: 2 } });
    const ruling = await on.desk.submit(second);
    const theirs = ruling.ruling === "held" ? ruling.resumeToken : undefined;
    expect(await on.desk.claim(id, { ...evidence, resumeToken: theirs ?? "none" })).toEqual(refused);
    const claimed = await on.desk.claim(id, { ...evidence, resumeToken: token });
    if (!claimed.ok) throw new Error("not claimed");
    expect((await rowsOf(on.store, "token")).map(({ value }) => value.spent)).toContain("2030-01-01T00:00:00.000Z");
    expect(await on.desk.claim(id, { ...evidence, resumeToken: token })).toMatchObject({ ok: false });
    await on.desk.complete(id, claimed.token, { status: "succeeded", value: 1, observedBy: "executor" });
    expect(await on.desk.resume(token, elsewhere)).toMatchObject({ status: "succeeded" });
  });
});
