/** The second door: the deciding side, and the desk that has one. Gateway and adapters may not open it. */
export { type LocalDesk, type LocalDeskOptions, localDesk } from "./desk/local-desk.ts";
export { type TokenInfo, tokenBook, type TokenRole, TOKEN_ROLES, type Tokens } from "./desk/tokens.ts";
export { type Elsewhere, submissionFromElsewhere, tighterMode, verdictOn } from "./gate/elsewhere.ts";
export { snapshotOf } from "./gate/gate.ts";
export { type Guards, GUARDS } from "./guards.ts";
export type {
  Ambiguous,
  Answer,
  Approvals,
  Decided,
  EditAnswer,
  Identity,
  ListQuery,
  Remembered,
  Render,
} from "./ports/approvals.ts";
export { type TextAnswer, textAnswer, type TextSetting } from "./words.ts";
