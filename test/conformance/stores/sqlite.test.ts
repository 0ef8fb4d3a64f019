import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { sqliteStore } from "../../../src/stores/sqlite/index.ts";
import { storeSuite } from "../../../src/testing/index.ts";

describe("sqlite store", () => {
  storeSuite({
    describe,
    it,
    makeStore: (clock) => {
      const folder = mkdtempSync(join(tmpdir(), "holdpoint-store-"));
      const handles: ReturnType<typeof sqliteStore>[] = [];
      const open = (): ReturnType<typeof sqliteStore> => {
        const store = sqliteStore({ path: join(folder, "holdpoint.db"), clock });
        handles.push(store);
        return store;
      };
      const close = async (): Promise<void> => {
        for (const store of handles.splice(0)) await store.close();
      };
      return {
        store: open(),
        second: async () => open(),
        reopen: async () => {
          await close();
          return open();
        },
        dispose: async () => {
          await close();
          rmSync(folder, { recursive: true, force: true });
        },
      };
    },
  });
});
