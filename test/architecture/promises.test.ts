import { globSync, readFileSync } from "node:fs";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const page = readFileSync("docs/promises.md", "utf8");
const promised = [...page.matchAll(/^\| (P-\d\d) \| (.+) \|$/gm)].map(([, id, sentence]) => ({
  id: id ?? "",
  sentence: sentence ?? "",
}));
const notYet = [...page.matchAll(/^- (P-\d\d): (in part; )?(.*\(issue \d+\))$/gm)].map(([, id, part]) => ({
  id: id ?? "",
  inPart: part !== undefined,
}));

/** `it`, `test`, `describe`, and what hangs on them: `.each(…)`, `.concurrent`. */
const isTestCall = (callee: ts.Expression): boolean => {
  if (ts.isIdentifier(callee)) return ["it", "test", "describe"].includes(callee.text);
  return ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee) || ts.isTaggedTemplateExpression(callee)
    ? isTestCall(ts.isTaggedTemplateExpression(callee) ? callee.tag : callee.expression)
    : false;
};

const titlesOf = (file: string): string[] => {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ES2023, true);
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    const [title] = ts.isCallExpression(node) && isTestCall(node.expression) ? node.arguments : [];
    if (title !== undefined && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title)))
      titles.push(title.getText(source));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
};

const files = globSync("{src,test}/**/*.test.ts", { exclude: ["**/node_modules/**"] });
const cited = files.flatMap((file) =>
  titlesOf(file).flatMap((title) => [...title.matchAll(/\bP-\d+\b/g)].map(([id]) => ({ id, file }))),
);

describe("promises", () => {
  it("are numbered without a gap, each with one sentence", () => {
    expect(promised.map(({ id }) => id)).toEqual(promised.map((_, index) => `P-${String(index + 1).padStart(2, "0")}`));
    expect(promised).toHaveLength(20);
    expect(promised.filter(({ sentence }) => !/^[A-Z].*\.$/.test(sentence)).map(({ id }) => id)).toEqual([]);
  });

  it("are each shown by a test that cites the id, or are later work", () => {
    const shown = new Set(cited.map(({ id }) => id));
    const later = new Set(notYet.filter(({ inPart }) => !inPart).map(({ id }) => id));
    expect(promised.map(({ id }) => id).filter((id) => !shown.has(id) && !later.has(id))).toEqual([]);
    expect([...later].filter((id) => shown.has(id))).toEqual([]);
  });

  it("that tests cite exist", () => {
    const known = new Set(promised.map(({ id }) => id));
    expect(cited.filter(({ id }) => !known.has(id))).toEqual([]);
    expect(files.length).toBeGreaterThan(30);
  });

  it("that are later work are this many", () => {
    expect(notYet.map(({ id }) => id)).toEqual(["P-20"]);
    expect(page.split("## Not yet")[1]?.match(/^- /gm)).toHaveLength(notYet.length);
  });
});
