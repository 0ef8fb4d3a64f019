export { relay } from "./relay.ts";
export { relayOverStdio } from "./stdio.ts";
export type { Command } from "./child.ts";
export { gateJudge, type JudgeOptions } from "./judge.ts";
export type { CallOutcome, GatewayCall, GatewayVerdict, Judge, Timing, Withdrawal } from "./port.ts";
export type { RelayEnd, RelayOptions } from "./relay.ts";
export type { StdioOptions } from "./stdio.ts";
