import { expect, it } from "vitest";
import { serverName } from "./server-name.ts";

it.each([
  ["npx -y @modelcontextprotocol/server-filesystem /srv/notes", "filesystem"],
  ["npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /srv", "filesystem"],
  ["npx @playwright/mcp@latest", "playwright"],
  ["npx -y mcp-server-sqlite --db x.db", "sqlite"],
  ["uvx mcp-server-git --repository /srv", "git"],
  ["uvx --from mcp-server-time==1.2 mcp-server-time", "time"],
  ["uv tool run notes-mcp", "notes"],
  ["python -m mcp_server_fetch", "fetch"],
  ["python3 /opt/weather_server.py", "weather"],
  ["node /x/node_modules/@modelcontextprotocol/server-memory/dist/index.js", "memory"],
  ["node --enable-source-maps ./my-notes/build/main.mjs", "my-notes"],
  ["docker run -i --rm -e TOKEN ghcr.io/acme/github-mcp-server:1.4", "github"],
  ["env API=1 deno run -A jsr/server.ts", "jsr"],
  ["/usr/local/bin/acme-server", "acme"],
  ["node index.js", "index"],
  ["sudo", "sudo"],
  ["ünïcödé", "n-c-d"],
  ["…", "server"],
])("%s is %s", (command, name) => {
  expect(serverName(command.split(" "))).toBe(name);
});
