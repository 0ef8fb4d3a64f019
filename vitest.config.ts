import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "test/e2e/**"],
    testTimeout: 20_000,
    coverage: {
      provider: "v8",
      include: ["src/core/**/*.ts"],
      exclude: ["**/*.test.ts", "**/*.test-kit.ts"],
      reporter: [["text", { skipFull: true, maxCols: 130 }], "json-summary"],
      reportsDirectory: "coverage",
      // A branch of the core that no test takes is a refusal nobody has seen, or a permit nobody meant.
      thresholds: { branches: 100 },
    },
  },
});
