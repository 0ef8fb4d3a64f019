#!/usr/bin/env node
// No optional chaining, no top-level await, no static import: an old Node must read this file far enough to say what is missing.
const [major, minor] = process.versions.node.split(".").map(Number);

/**
 * node:sqlite announces itself as experimental on Node 22, once in every process. On stderr that line would stand between
 * a person and the prompt, so it alone is kept back; every other warning passes.
 */
const keepSqliteNoticeBack = () => {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    const isNotice = rest[0] === "ExperimentalWarning" && /^SQLite /.test(String(warning));
    if (!isNotice) emitWarning.call(process, warning, ...rest);
  };
};

const fail = (fault) => {
  if (fault && fault.code === "ERR_MODULE_NOT_FOUND" && String(fault.message).includes("dist/cli/main.js")) {
    process.stderr.write("holdpoint: this checkout is not built yet: npm ci && npm run build\n");
    process.exitCode = 1;
    return;
  }
  process.stderr.write(`holdpoint: ${fault instanceof Error ? fault.stack : fault}\n`);
  process.exitCode = 1;
};

if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(
    `holdpoint needs Node 22.13 or newer and this is Node ${process.versions.node}: install it from https://nodejs.org, or run npx -y -p node@22 -p holdpoint holdpoint\n`,
  );
  process.exitCode = 1;
} else {
  keepSqliteNoticeBack();
  import("../dist/cli/main.js")
    .then((entry) => entry.main(process.argv.slice(2)))
    .then((status) => {
      process.exitCode = status;
    })
    .catch(fail);
}
