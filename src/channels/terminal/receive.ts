import {
  inCommand,
  phrase,
  terminalLine,
  type Clock,
  type Locale,
  type PhraseKey,
  type Presented,
  type TerminalLine,
} from "../../core/index.ts";
import type { Asked, Cursor } from "./cursor.ts";
import type { Device } from "./device.ts";
import { KeyReader, type Key } from "./keys.ts";
import { edited, EMPTY_LINE, textOf, type Line } from "./line.ts";
import { inputRow, rowsOf, sheetOf, weighted, widthOf, type Sheet } from "./render.ts";

/** What a decided line led to. */
export type Settled =
  /** The question is over; what to say of it. */
  | { readonly over: true; readonly lines: readonly string[] }
  /** It goes on, with a word of why; with a new card where the old one is stale. */
  | { readonly over: false; readonly notice: string; readonly fresh?: Presented };

/** Everything that one question at a terminal needs of its surroundings. */
export interface Surroundings {
  readonly device: Device;
  /** Of this terminal, for all questions on it. */
  readonly cursor: Cursor;
  readonly clock: Clock;
  readonly locale: Locale;
  readonly colour: boolean;
  /** Options that go with each command a question names. */
  readonly commandOptions: string;
  /** Milliseconds of silence between the card and the question. */
  readonly guard: number;
  /** How many more wait behind this one. */
  readonly waiting: () => number;
  readonly decide: (said: Exclude<TerminalLine, { answer: "unclear" }>, presented: Presented) => Promise<Settled>;
  /** All of it was shown. */
  readonly seen: (presented: Presented) => void;
  /**
   * The question is over; `interrupted`: by Ctrl-C. `last` is still to be written: whoever reads it may type to the host
   * at once, so the terminal is the host's by then.
   */
  readonly ended: (how: "settled" | "interrupted", last: string) => void;
}

type Phase = "guard" | "reading" | "checking" | "deciding" | "over";

/** A lone Escape is told from the beginning of an arrow key by what follows within this time. */
const ESCAPE_MS = 60;
/** A host that closes everything waits no longer than this for a terminal's last answer. */
const LAST_ANSWER_MS = 150;
/** Colours off, plain letters, cursor shown, rows broken by the terminal, letters not pushed aside. */
const ORDERLY = "\u001b[0m\u001b(B\u000f\u001b[?25h\u001b[?7h\u001b[4l";
/** Also the whole screen as scroll region, and nothing on it: after somebody else has drawn. */
const CLEARED = `${ORDERLY}\u001b[?6l\u001b[r\u001b[2J\u001b[H`;
/**
 * One question at a terminal, from drawing the card to giving the answer on. Only a whole line that was typed after the
 * question was drawn decides; what was typed before, or pasted, or comes after somebody else has written on the screen,
 * does not (A60, A61).
 */
export class Question {
  readonly #around: Surroundings;
  #presented: Presented;
  /** Laid out once the terminal is taken: before that nobody knows how wide it is. */
  #sheet: Sheet = { parts: [] };
  #part = 0;
  #phase: Phase = "guard";
  #keys = new KeyReader();
  #line: Line = EMPTY_LINE;
  #early = false;
  /** Words above the question, one a row. */
  #notices: readonly string[] = [];
  /** Rows of the question below the card, with its cursor on the last; 0: not drawn. */
  #rows = 0;
  /** Others have written since the question was drawn: its rows are no longer where we drew them. */
  #foreign = false;
  #drained: (() => void) | undefined;
  #timer: () => void = () => undefined;
  #escape: () => void = () => undefined;

  constructor(presented: Presented, around: Surroundings) {
    this.#presented = presented;
    this.#around = around;
  }

  /** Draws the card. @returns whether all of it stands on the screen */
  start(): boolean {
    this.#sheet = this.#makeSheet();
    this.#around.device.write(`\r\n${ORDERLY}`);
    this.#drawPart();
    return this.#lastPart && this.#presented.complete;
  }

  /** What came from the terminal. */
  typed(text: string): void {
    this.#escape();
    this.#take(this.#keys.push(text));
    if (this.#keys.unfinished) {
      this.#escape = this.#around.clock.after(ESCAPE_MS, () => this.#take(this.#keys.flush()));
    }
  }

  /** Something beside the question has changed: how many wait, or a word to add. */
  refresh(notice?: string): void {
    if (notice !== undefined) this.#notices = [notice];
    if (this.#phase === "reading") this.#drawQuestion();
  }

  /** Somebody else wrote on the screen, or it has another size: all of it again, and no line from before counts. */
  redraw(notice?: string): void {
    if (this.#phase === "over" || this.#phase === "deciding") return;
    this.#around.device.write(CLEARED);
    this.#sheet = this.#makeSheet();
    this.#part = 0;
    this.#notices = notice === undefined ? [] : [notice];
    this.#drawPart();
  }

  /** Takes the question away because it is answered elsewhere, or over. While an answer is under way, that one ends it. */
  withdraw(ending: string): void {
    if (this.#phase !== "deciding") this.#end([ending]);
  }

  /**
   * As {@link Question.withdraw}, whatever is under way: the channel itself is over. What the terminal still has to say
   * of its cursor is waited for a moment: the host's shell would take it for typed text.
   */
  abandon(ending: string): Promise<void> {
    this.#end([ending]);
    const drained = this.#drained;
    if (drained === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      // By a timer of its own: the desk's clock may be over with the desk.
      const timer = setTimeout(() => this.#drained?.(), LAST_ANSWER_MS);
      this.#drained = () => {
        clearTimeout(timer);
        drained();
        resolve();
      };
    });
  }

  get over(): boolean {
    return this.#phase === "over";
  }

  get #lastPart(): boolean {
    return this.#part === this.#sheet.parts.length - 1;
  }

  #say(key: PhraseKey, values: Readonly<Record<string, string | number>> = {}): string {
    return phrase(this.#around.locale, key, {
      id: inCommand(this.#presented.card.id, this.#around.commandOptions),
      code: this.#presented.card.code,
      ...values,
    });
  }

  #makeSheet(): Sheet {
    const { device, colour, locale, commandOptions } = this.#around;
    return sheetOf(this.#presented, { ...device.size(), colour, locale, commandOptions });
  }

  #drawPart(): void {
    this.#around.device.write(`${(this.#sheet.parts[this.#part] ?? []).join("\r\n")}\r\n`);
    this.#rows = 0;
    this.#foreign = false;
    this.#line = EMPTY_LINE;
    this.#around.cursor.forget();
    this.#early = false;
    this.#phase = "guard";
    this.#rearm();
  }

  /** The question opens after a moment without a key: somebody in the middle of a sentence has not read the card. */
  #rearm(): void {
    this.#timer();
    this.#timer = this.#around.clock.after(this.#around.guard, () => {
      const early = this.#early ? [this.#say("terminal.early")] : [];
      this.#notices = [...this.#notices, ...early];
      this.#phase = "reading";
      this.#drawQuestion();
      if (this.#lastPart && this.#presented.complete) this.#around.seen(this.#presented);
    });
  }

  #questionRows(): readonly string[] {
    const { card, complete } = this.#presented;
    const columns = this.#around.device.size().columns;
    const waiting = this.#around.waiting();
    const question = !this.#lastPart
      ? this.#say("terminal.page", { page: this.#part + 1, pages: this.#sheet.parts.length })
      : this.#say(!complete ? "terminal.refuseOnly" : card.impact === "default" ? "terminal.question" : "terminal.coded");
    const lines = [
      ...this.#notices,
      ...(this.#lastPart && card.editable.length > 0 ? [this.#say("terminal.edit")] : []),
      waiting > 0 ? `${question} ${this.#say("terminal.waiting", { count: waiting })}` : question,
    ];
    return lines.flatMap((line) => rowsOf(line, columns)).map((row) => weighted(row, "bold", this.#around.colour));
  }

  #eraseQuestion(): string {
    if (this.#rows === 0) return "";
    return this.#rows === 1 ? "\r\u001b[J" : `\r\u001b[${this.#rows - 1}A\u001b[J`;
  }

  #drawQuestion(): void {
    const rows = this.#questionRows();
    this.#around.device.write(`${this.#eraseQuestion()}${rows.map((row) => `${row}\r\n`).join("")}`);
    this.#rows = rows.length + 1;
    this.#foreign = false;
    this.#drawInput();
    this.#ask("home");
  }

  #drawInput(): void {
    const { row, column } = inputRow(this.#line.before.join(""), this.#line.after.join(""), this.#around.device.size().columns);
    this.#around.device.write(`\r\u001b[K${row}\r\u001b[${column - 1}C`);
  }

  #ask(what: Asked): void {
    this.#around.cursor.ask(what, widthOf(this.#line.before.join("")));
  }

  #take(keys: readonly Key[]): void {
    for (const key of keys) {
      if (key.key === "position") this.#answered(key.row, key.column);
      else if (this.#phase === "over") return;
      else if (key.key === "interrupt") this.#interrupt();
      else if (this.#phase === "guard") this.#tooEarly();
      else if (this.#phase === "reading") this.#act(key);
    }
  }

  #tooEarly(): void {
    this.#early = true;
    this.#rearm();
  }

  #act(key: Key): void {
    if (key.key === "enter") this.#enter();
    else if (key.key === "eof") this.#settle({ answer: "reject", reason: undefined });
    else if (key.key === "paste") this.#again("terminal.pasted");
    else if (key.key === "redraw") this.redraw();
    else if (key.key === "text" && !this.#lastPart && key.text === " " && textOf(this.#line) === "") this.#nextPart();
    else {
      this.#ask("key");
      this.#line = edited(this.#line, key);
      this.#drawInput();
    }
  }

  #nextPart(): void {
    this.#around.device.write(this.#eraseQuestion());
    this.#part += 1;
    this.#notices = [];
    this.#drawPart();
  }

  /** Nothing was decided; the line is typed anew. */
  #again(key: PhraseKey): void {
    this.#line = EMPTY_LINE;
    this.#notices = [this.#say(key)];
    this.#phase = "reading";
    this.#drawQuestion();
  }

  #enter(): void {
    const { card, complete } = this.#presented;
    const { locale } = this.#around;
    const said = terminalLine(textOf(this.#line), { code: card.code, needsCode: card.impact !== "default", locale });
    if (said.answer === "reject") this.#settle(said);
    else if (!complete) this.#again("terminal.refuseOnly");
    else if (!this.#lastPart) this.#again("terminal.unseen");
    else if (said.answer === "unclear") this.#again(said.why === "needs_code" ? "terminal.codeNeeded" : "terminal.otherCode");
    else this.#check();
  }

  /** Before a yes counts, the terminal is asked whether the cursor is where our typing left it. */
  #check(): void {
    const { cursor, clock } = this.#around;
    this.#phase = "checking";
    this.#ask("check");
    if (!cursor.isPending) {
      this.#settle({ answer: "approve" });
      return;
    }
    this.#timer();
    this.#timer = clock.after(cursor.patience, () => {
      if (cursor.gaveUp()) this.#settle({ answer: "approve" });
      else this.redraw(this.#say("terminal.redrawn"));
    });
  }

  #answered(row: number, column: number): void {
    const { cursor } = this.#around;
    const found = cursor.answered(row, column);
    if (found?.same === false) this.#foreign = true;
    if (!cursor.isPending) this.#drained?.();
    if (found === undefined || (this.#phase !== "reading" && this.#phase !== "checking")) return;
    if (!found.same) this.redraw(this.#say("terminal.redrawn"));
    else if (found.what === "check" && this.#phase === "checking") this.#settle({ answer: "approve" });
  }

  #settle(said: Exclude<TerminalLine, { answer: "unclear" }>): void {
    this.#phase = "deciding";
    this.#timer();
    this.#leaveLine();
    void this.#around.decide(said, this.#presented).then((settled) => {
      if (settled.over) return this.#end(settled.lines);
      this.#phase = "reading";
      this.#line = EMPTY_LINE;
      if (settled.fresh === undefined) return this.refresh(settled.notice);
      this.#presented = settled.fresh;
      this.redraw(settled.notice);
    });
  }

  /** The answer stays as it was typed, and whatever is printed from here on, by us or others, begins below it. */
  #leaveLine(): void {
    this.#rows = 0;
    this.#attempt(() => this.#around.device.write("\r\n"));
  }

  /** What only makes the end tidier: a terminal that is gone by then must not keep the question from ending. */
  #attempt(write: () => void): void {
    try {
      write();
    } catch {
      this.#foreign = true;
    }
  }

  #interrupt(): void {
    this.#end([this.#say("terminal.aside")], "interrupted");
  }

  #end(lines: readonly string[], how: "settled" | "interrupted" = "settled"): void {
    if (this.#phase === "over") return;
    this.#phase = "over";
    this.#timer();
    this.#escape();
    const { device, clock, cursor } = this.#around;
    if (this.#rows > 0) this.#attempt(() => this.#ask("key"));
    this.#drained = () => {
      this.#drained = undefined;
      this.#timer();
      const rows = lines.flatMap((line) => rowsOf(line, device.size().columns));
      this.#around.ended(
        how,
        `${this.#foreign && this.#rows > 0 ? "\r\n" : this.#eraseQuestion()}${rows.map((row) => `${row}\r\n`).join("")}`,
      );
    };
    if (cursor.isPending) this.#timer = clock.after(cursor.patience, () => this.#drained?.());
    else this.#drained();
  }
}
