import { defineConfig } from "vitest/config";

/** The tests that a mutant of the core meets: those in this process. A mutant does not reach a process that a test starts. */
export default defineConfig({
  test: {
    include: ["src/core/**/*.test.ts", "test/core/**/*.test.ts"],
    testTimeout: 20_000,
  },
});
