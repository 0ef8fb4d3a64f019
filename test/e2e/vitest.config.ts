import { defineConfig, type ViteUserConfig } from "vitest/config";

/** Run from the root: `vitest run --config test/e2e/vitest.config.ts`, after `npm ci` in this folder. */
const config: ViteUserConfig = defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["*.test.ts", "*.test.mjs"],
    testTimeout: 120_000,
    maxWorkers: 2,
  },
});

export default config;
