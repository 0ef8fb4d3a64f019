export { memoryStore } from "./store.ts";
export type { MemoryStoreOptions } from "./store.ts";
