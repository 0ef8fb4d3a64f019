import { describe, it } from "vitest";
import { memoryStore } from "../../../src/stores/memory/index.ts";
import { storeSuite } from "../../../src/testing/index.ts";

describe("memory store", () => {
  storeSuite({
    describe,
    it,
    // It ends with its process and belongs to one: there is nothing to reopen and nobody to share with.
    abilities: [],
    makeStore: (clock) => {
      const store = memoryStore({ clock });
      return { store, dispose: () => store.close() };
    },
  });
});
