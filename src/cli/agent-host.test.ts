import { expect, it } from "vitest";
import { agentHostOf } from "./agent-host.ts";

it.each([
  ["claude", "claude"],
  ["/home/a/.local/bin/claude --resume", "claude"],
  ["node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js", "@anthropic-ai/claude-code"],
  ["/usr/bin/node --no-warnings /usr/local/bin/gemini", "gemini"],
  ["codex exec do it", "codex"],
  ["Codex.exe", "codex"],
  ["python3 /usr/bin/aider", "aider"],
  ["cursor-agent", "cursor-agent"],
  ["-bash", undefined],
  ["bash -c claude", undefined],
  ["vim claude", undefined],
  ["node server.js claude", undefined],
  ["node /home/claude-fan/tool.js", undefined],
  ["cursor", undefined],
  ["", undefined],
])("%s: %s", (words, host) => {
  expect(agentHostOf({ words: words.split(" ") })).toBe(host);
});

it("a shell script goes by its own name", () => {
  expect(agentHostOf({ words: ["/bin/sh", "/usr/bin/claude"], title: "claude" })).toBe("claude");
  expect(agentHostOf({ words: ["/bin/sh", "/usr/bin/tool"], title: "tool" })).toBeUndefined();
});
