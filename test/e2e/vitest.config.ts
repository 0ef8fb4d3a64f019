import { defineConfig } from "vitest/config";

/** Run from the root: `vitest run --config test/e2e/vitest.config.ts`, after `npm ci` in this folder. */
// biome-ignore lint/style/noDefaultExport: vitest reads its configuration so
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["*.test.ts", "*.test.mjs"],
    testTimeout: 120_000,
    maxWorkers: 2,
  },
});
