import { nodeRuntime } from "../../../src/index.ts";

/** The checker of JSON Schema is a package that is loaded when it is first used: no clock that stands would wait for a disk. */
await nodeRuntime().schemas.check({ type: "object" }, {});
