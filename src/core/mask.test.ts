import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSecretFlag, isSecretName, secretSpans } from "./mask-spans.ts";
import { MASK, maskMark, maskSecrets, maskText } from "./mask.ts";

const m = maskMark;
const PEM =
  "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA0Z3VS5JJcds3\nxfn/ygWyF8PbnGy0AHB7==\n-----END RSA PRIVATE KEY-----";

describe("maskText", () => {
  it.each([
    [
      "a key before another command (A24)",
      "login --token=sk_test_0000000000000000;echo AFTER",
      `login --token=${m(24)};echo AFTER`,
    ],
    ["an access key before a command (A24.2)", "AKIA0000000000000000 echo AFTER", `${m(20)} echo AFTER`],
    [
      "a bearer token in a header",
      "curl -H 'Authorization: Bearer sk-test-abc123def456' https://api.test",
      `curl -H 'Authorization: Bearer ${m(20)}' https://api.test`,
    ],
    ["a bearer token alone", "Bearer abcDEF0123456789", `Bearer ${m(16)}`],
    ["JSON in a string (A114)", '{"password":"hunter2-EXAMPLE","n":1}', `{"password":"${m(15)}","n":1}`],
    [
      "JSON in JSON in a string",
      '{"body":"{\\"password\\":\\"hun\\\\\\"ter2\\",\\"n\\":1}"}',
      `{"body":"{\\"password\\":\\"${m(3)}\\\\\\"${m(4)}\\",\\"n\\":1}"}`,
    ],
    ["a password in a URL (A114.2)", "postgres://u:hunter2-EXAMPLE@db.invalid/x", `postgres://u:${m(15)}@db.invalid/x`],
    ["a password with an @ in a URL", "https://u:p@ss1@h.invalid/x", `https://u:${m(5)}@h.invalid/x`],
    ["a token as the name in a URL", "https://tok123@h.invalid/x?a=b@c", `https://${m(6)}@h.invalid/x?a=b@c`],
    ["a query parameter, up to the next", "https://h.invalid/?token=abc123&x=1", `https://h.invalid/?token=${m(6)}&x=1`],
    ["a flag with a blank", "deploy --api-key abc123 --force", `deploy --api-key ${m(6)} --force`],
    ["a flag followed by a flag", "deploy --token --force", "deploy --token --force"],
    ["an environment variable", "export DB_PASSWORD=hunter2; rm -rf x", `export DB_PASSWORD=${m(7)}; rm -rf x`],
    ["a line of YAML", "user: ada\npassword: hunter\nhost: db", `user: ada\npassword: ${m(6)}\nhost: db`],
    ["separators inside a quoted secret", 'X_TOKEN="abc; rm -rf ~"', `X_TOKEN="${m(3)}; ${m(2)} ${m(3)} ${m(1)}"`],
    ["a token of one code host", `see ghp_${"a1".repeat(18)} there`, `see ${m(40)} there`],
    ["a JSON web token", "x eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSM y", `x ${m(44)} y`],
    ["our own resume token", `hp1.0190a1b2-0000.${"x1".repeat(20)} ok`, `${m(58)} ok`],
    ["a private key's body", PEM, `-----BEGIN RSA PRIVATE KEY-----\n${m(28)}\n${m(22)}\n-----END RSA PRIVATE KEY-----`],
    [
      "a command inside a private key's frame",
      "-----BEGIN PRIVATE KEY-----\n$(rm -rf ~)\n-----END PRIVATE KEY-----",
      "-----BEGIN PRIVATE KEY-----\n$(rm -rf ~)\n-----END PRIVATE KEY-----",
    ],
    ["an unfinished quotation", 'token="abc123 and more', `token="${m(6)} and more`],
  ])("masks %s and nothing else", (_, text, shown) => {
    expect(maskText(text)).toBe(shown);
  });

  it.each([
    "const token = await next();",
    "token: string",
    "the secret: nobody knows",
    "max_tokens=100",
    "sk-learn-tutorial",
    "basic authentication",
    "token=$(cat /run/token)",
    "see https://host.invalid/a@b and mail a@b.invalid",
    "task-1234567890",
    "passwords matter",
  ])("leaves %j alone", (text) => {
    expect(maskText(text)).toBe(text);
  });

  it("hides the whole text when a scanner fails", () => {
    const broken = (): never => {
      throw new Error("no");
    };
    expect(maskText("hunter2 and more", broken)).toBe(m(16));
  });

  it("hides the content of every span it finds and keeps the rest in its place", () => {
    const parts = fc.constantFrom(
      "token=",
      "password",
      '"',
      "'",
      "\\",
      ":",
      "=",
      " ",
      ";",
      "abc123",
      "Bearer ",
      "://",
      "@",
      "sk_test_",
      "0123456789abcdef",
      "\n",
      "{",
      "}",
      "-----BEGIN PRIVATE KEY-----",
      "--",
    );
    fc.assert(
      fc.property(
        fc.array(parts, { maxLength: 30 }).map((list) => list.join("")),
        (text) => {
          const spans = secretSpans(text);
          let from = 0;
          for (const { start, end } of spans) {
            expect(start).toBeGreaterThanOrEqual(from);
            expect(end).toBeGreaterThan(start);
            expect(text.slice(start, end)).not.toMatch(/[\s;|]/u);
            from = end;
          }
          const kept = maskText(text).split(MASK).join("");
          expect(kept.length).toBe(text.length - spans.reduce((sum, { start, end }) => sum + end - start, 0));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("takes time in proportion to the text", () => {
    for (const unit of [
      "token=",
      "a://",
      "eyJ",
      "eyJaaaaaa.",
      "sk_",
      '"password":"\\',
      "-----BEGIN PRIVATE KEY-----",
      "Bearer ",
      "\\",
      "--token ",
      'password:\\"',
      "a,",
      "token",
    ]) {
      const text = unit.repeat(Math.ceil(200_000 / unit.length));
      expect(maskText(text).length).toBeGreaterThan(0);
    }
  });
});

describe("maskSecrets", () => {
  it("masks by the name of the member, at any depth, and says where", () => {
    const args = { login: { password: "hunter2", user: "ada" }, headers: { "X-Api-Key": "k1" }, pin: 1, accessToken: 1234 };
    expect(maskSecrets(args)).toEqual({
      shown: { login: { password: m(7), user: "ada" }, headers: { "X-Api-Key": m(2) }, pin: 1, accessToken: m(4) },
      masked: ["/login/password", "/headers/X-Api-Key", "/accessToken"],
    });
  });

  it("masks the bearer token of A112 and keeps its scheme out of the mask", () => {
    const { shown, masked } = maskSecrets({ headers: { Authorization: "Bearer sk_test_EXAMPLE000000000000" } });
    expect(JSON.stringify(shown)).not.toContain("sk_test_EXAMPLE");
    expect(masked).toEqual(["/headers/Authorization"]);
  });

  it("masks what follows a flag in a list of arguments", () => {
    expect(maskSecrets({ argv: ["curl", "--token", "abc", "x"] }).shown).toEqual({ argv: ["curl", "--token", m(3), "x"] });
  });

  it("leaves commitments, and arguments without secrets, as they are", () => {
    const args = { token: { $secret: "sha256:00" }, password: null, secret: true, n: 3, path: "/a/b" };
    expect(maskSecrets(args)).toEqual({ shown: args, masked: [] });
    expect(maskSecrets(args).shown).toBe(args);
  });

  it("keeps a member called __proto__ as data", () => {
    const args = Object.fromEntries([["__proto__", { token: "abc" }]]);
    const { shown } = maskSecrets(args);
    expect(Object.keys(shown)).toEqual(["__proto__"]);
    expect(JSON.stringify(shown)).toBe(`{"__proto__":{"token":"${m(3)}"}}`);
  });

  it("knows names and flags", () => {
    expect(["password", "db_password", "clientSecret", "X-Api-Key", "COOKIE"].map(isSecretName)).not.toContain(false);
    expect(["max_tokens", "path", "secretary", "tokenizer"].map(isSecretName)).not.toContain(true);
    expect([isSecretFlag("--token"), isSecretFlag("-password"), isSecretFlag("token"), isSecretFlag("--token=x")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe("a scan that fails", () => {
  it("A114 hides every text of the arguments whole, for nothing is known of it", () => {
    const broken = (): never => {
      throw new Error("scan");
    };
    expect(maskSecrets({ a: "plain", n: 1 }, broken)).toEqual({ shown: { a: m(5), n: 1 }, masked: ["/a"] });
  });
});
