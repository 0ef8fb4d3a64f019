import ts from "typescript";
import { describe, expect, it } from "vitest";
import * as holdpoint from "../../src/index.ts";

/** Everything that `import … from "holdpoint"` can name, types too. A change here is a change of the published surface. */
const NAMES = [
  "Alternative",
  "Assurance",
  "CallOptions",
  "Card",
  "Channel",
  "ChannelCapabilities",
  "ChannelDecision",
  "ChannelDesk",
  "Check",
  "ChildOptions",
  "Clause",
  "Clock",
  "Confirmation",
  "DeclarationError",
  "Delivered",
  "Delivery",
  "Directory",
  "Duration",
  "Gate",
  "GateOptions",
  "GatedTool",
  "HoldpointError",
  "HoldpointEvent",
  "Log",
  "Opinion",
  "Outcome",
  "Policy",
  "Refused",
  "Requester",
  "Rule",
  "Run",
  "RunContext",
  "RunOptions",
  "Runtime",
  "Store",
  "Suspended",
  "Tool",
  "ToolDescriptor",
  "Toolkit",
  "Unknown",
  "canonicalize",
  "confirm",
  "copyJson",
  "createGate",
  "dataFolder",
  "fileKeys",
  "isHoldpointError",
  "isRefused",
  "isSuspended",
  "isUnknown",
  "memoryKeys",
  "nodeRuntime",
  "readJson",
  "toolkit",
];

const exported = (): readonly string[] => {
  const program = ts.createProgram(["src/index.ts"], {
    allowImportingTsExtensions: true,
    noEmit: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
    types: [],
  });
  const source = program.getSourceFile("src/index.ts");
  const checker = program.getTypeChecker();
  const symbol = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  return symbol === undefined ? [] : checker.getExportsOfModule(symbol).map(({ name }) => name);
};

describe('import … from "holdpoint"', () => {
  it("names exactly these", () => {
    expect([...exported()].sort()).toEqual([...NAMES].sort());
  }, 60_000);

  it("P-01 has no way to approve everything, in tests neither", () => {
    expect(Object.keys(holdpoint).filter((name) => /approv|auto|allowAll|yes/i.test(name))).toEqual([]);
  });
});
