import { describe, expect, it } from "vitest";
import { confirm, marksOf, originalOf, toolkit } from "./declare.ts";
import { DeclarationError } from "./errors.ts";
import { isRefused } from "./outcome.ts";
import type { Tool } from "./tool-call.ts";

const thrownBy = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (thrown) {
    return thrown;
  }
};
const refuses = (act: () => unknown): boolean => {
  const thrown = thrownBy(act);
  return isRefused(thrown) && thrown.code === "no_gate";
};
const words = (target: unknown): unknown[] => marksOf(target).map((mark) => mark.confirm);

describe("confirm", () => {
  it("P-01 marks a function, which refuses outside a gate and is itself inside one", () => {
    const send = (mail: string): string => `sent ${mail}`;
    for (const [marked, said] of [
      [confirm(send), [{}]],
      [confirm("Send?")(send), [{ message: "Send?" }]],
      [confirm({ approvers: ["bob"], impact: "irreversible" })(send), [{ approvers: ["bob"] }]],
    ] as const) {
      expect(words(marked)).toEqual(said);
      expect(refuses(() => marked("x"))).toBe(true);
      expect([marked.name, marked.length]).toEqual(["send", 1]);
      expect(originalOf(marked as never)).toBe(send);
    }
    expect(marksOf(confirm({ impact: "destructive" })(send))[0]?.impact).toBe("destructive");
    expect(words(send)).toEqual([]);
    expect(originalOf(send as never)).toBe(send);
    expect(confirm(() => 1).name).not.toBe("");
    expect(
      confirm(
        (
          () => () =>
            1
        )(),
      ).name,
    ).toBe("tool");
  });

  it("P-01 survives marking again, binding, copying and re-wrapping: every mark holds", () => {
    function pay(this: { rate: number } | undefined, amount: number): number {
      return amount * (this?.rate ?? 1);
    }
    const twice = confirm("Really?")(confirm({ approvers: ["bob"] })(pay));
    expect(words(twice)).toEqual([{ approvers: ["bob"] }, { message: "Really?" }]);
    const bound = twice.bind({ rate: 2 });
    expect(words(bound)).toEqual([{ approvers: ["bob"] }, { message: "Really?" }]);
    expect(refuses(() => bound(1))).toBe(true);
    expect((originalOf(bound as never) as (amount: number) => number)(3)).toBe(6);
    const tool: Tool = { name: "pay", run: twice as never };
    expect(words({ ...tool })).toHaveLength(2);
    expect(words(Object.create(tool))).toHaveLength(2);
  });

  it("marks a tool by a copy of it, and a class of tools with all that inherit", () => {
    const tool: Tool = { name: "pay", run: () => 1 };
    const marked = confirm(tool);
    expect([words(marked), words(tool), marked === tool]).toEqual([[{}], [], false]);
    expect(words(confirm("Pay?")(tool))).toEqual([{ message: "Pay?" }]);
    class Pay {
      name = "pay";
      run(): string {
        return "base";
      }
    }
    const Marked = confirm({ message: "Pay?" })(Pay);
    class Bigger extends Marked {
      override run(): string {
        return "bigger";
      }
    }
    expect(words(new Marked())).toEqual([{ message: "Pay?" }]);
    expect(words(new Bigger())).toEqual([{ message: "Pay?" }]);
    expect(refuses(() => new Marked().run())).toBe(true);
    expect(() => confirm(class Empty {})).toThrow(/give it a run method/);
  });

  it("P-01 is found behind an accessor", () => {
    const marked = confirm(() => 1);
    const tool = {
      name: "pay",
      get run(): () => number {
        return marked;
      },
    };
    expect(words(tool)).toEqual([{}]);
  });

  it("is a decorator of methods and classes, and of nothing else", () => {
    const method = confirm(
      function send() {
        return 1;
      },
      { kind: "method", name: "send" },
    );
    expect(words(method)).toEqual([{}]);
    expect(
      words(
        confirm("Why?")(
          function send() {
            return 1;
          },
          { kind: "method", name: "send" },
        ),
      ),
    ).toEqual([{ message: "Why?" }]);
    expect(() => confirm(() => 1, { kind: "getter" })).toThrow(/not a getter/);
    expect(() => confirm("Why?")(7)).toThrow(/marks a function, a tool/);
    for (const nothing of [7, null, undefined, [], true]) expect(() => confirm(nothing as never)).toThrow(DeclarationError);
  });

  it("finds no marks on what is no tool", () => {
    for (const target of [undefined, null, 7, "x", {}, { run: 7 }]) expect(marksOf(target)).toEqual([]);
  });
});

class Files {
  readonly confirming = new Set(["remove"]);
  readonly requiresApproval = { move: "Move {from}?" };
  readonly root = "/srv";
  readonly extra = ({ path }: { path: string }): string => `extra ${path}`;
  list(): string {
    return this.root;
  }
  remove({ path }: { path: string }): string {
    return `${this.root}${path} removed`;
  }
  move({ from }: { from: string }): string {
    return from;
  }
  _private(): string {
    return this.root;
  }
  get size(): number {
    return 0;
  }
}

describe("toolkit", () => {
  const run = (tool: Tool | undefined, args: object): unknown => originalOf(tool?.run as never)(args as never);

  it("makes a tool of every public method, asking where the kit says so", () => {
    const kit = new Files();
    const tools = toolkit(kit, { prefix: "files/", describe: { list: { tier: "read" } } });
    expect(tools.map(({ name }) => name).sort()).toEqual(["files/extra", "files/list", "files/move", "files/remove"]);
    const by = (name: string) => tools.find((tool) => tool.name === `files/${name}`);
    expect([words(by("list")), words(by("remove")), words(by("move")), words(by("extra"))]).toEqual([
      [],
      [{}],
      [{ message: "Move {from}?" }],
      [],
    ]);
    expect(by("list")?.tier).toBe("read");
    expect(run(by("remove"), { path: "/a" })).toBe("/srv/a removed");
    expect(run(by("extra"), { path: "/a" })).toBe("extra /a");
    expect(refuses(() => by("remove")?.run({} as never, {} as never))).toBe(true);
  });

  it("P-01 keeps the marks of a method and of those it overrides", () => {
    class Base {
      send(): string {
        return "base";
      }
    }
    Object.defineProperty(Base.prototype, "send", {
      value: confirm("Send?")(Base.prototype.send),
      writable: true,
      configurable: true,
    });
    class Own extends Base {
      override send(): string {
        return "own";
      }
    }
    const [tool] = toolkit(new Own());
    expect(words(tool)).toEqual([{ message: "Send?" }]);
    expect(run(tool, {})).toBe("own");
  });

  it("P-14 refuses a name that no method has: it would protect nothing", () => {
    expect(() => toolkit(Object.assign(new Files(), { confirming: ["delete"] }))).toThrow(/no method "delete"; its methods are/);
    expect(() => toolkit(Object.assign(new Files(), { requiresApproval: { delete: "?" } }))).toThrow(/no method "delete"/);
    expect(() => toolkit(new Files(), { describe: { delete: {} } })).toThrow(/no method "delete"/);
    expect(() => toolkit(new Files(), { methods: ["list"] })).toThrow(/no method "remove"/);
    expect(() => toolkit({ run: () => 1 } as object, { methods: ["run", "gone"] })).toThrow(/no method "gone"/);
  });
});
