import { globSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";

/** Words that mean three things here, or none: docs/glossary.md. */
const BANNED = [
  "permission",
  "user",
  "session",
  "callback",
  "handler",
  "manager",
  "service",
  "helper",
  "util",
  "utils",
  "data",
  "info",
];
/** Published names that the contract fixes. */
const EXEMPT = ["callbackChannel", "Callback", "CallbackOptions", "callback", "dataFolder"];

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.toLowerCase());
const bannedIn = (name: string): boolean =>
  !EXEMPT.includes(name) && wordsOf(name).some((word) => BANNED.includes(word) || BANNED.includes(word.replace(/s$/, "")));

const isExported = (node: ts.Statement): boolean =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

const namesOf = (node: ts.Statement): string[] => {
  if (ts.isExportDeclaration(node)) {
    return node.exportClause !== undefined && ts.isNamedExports(node.exportClause)
      ? node.exportClause.elements.map(({ name }) => name.text)
      : [];
  }
  if (!isExported(node)) return [];
  if (ts.isVariableStatement(node)) return node.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = node as { readonly name?: ts.Identifier };
  return name === undefined ? [] : [name.text];
};

const exportsOf = (file: string): string[] =>
  ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ES2023, true).statements.flatMap(namesOf);

describe("names", () => {
  const files = globSync("src/**/*.ts").map((file) => file.replaceAll("\\", "/"));

  it("of what is exported have one meaning each", () => {
    const names = files.flatMap((file) => exportsOf(file).map((name) => ({ file, name })));
    expect(names.length).toBeGreaterThan(300);
    expect(names.filter(({ name }) => bannedIn(name))).toEqual([]);
  });

  it("of files and folders have one meaning each", () => {
    const paths = new Set(files.flatMap((file) => [basename(file).replace(/\..*$/, ""), ...dirname(file).split("/")]));
    expect([...paths].filter(bannedIn)).toEqual([]);
  });

  it("are looked at word by word", () => {
    expect(
      ["userName", "dataOf", "ServiceToken", "http-utils", "sessions", "EVENT_HANDLER"].filter((name) => !bannedIn(name)),
    ).toEqual([]);
    expect(["reuse", "database", "informed", "callbackChannel", "sessionless"].filter(bannedIn)).toEqual([]);
  });

  it("in the glossary are explained once, and the banned words are listed there", () => {
    const page = readFileSync("docs/glossary.md", "utf8");
    const terms = [...page.matchAll(/^\| (\*\*.+?\*\*.*?) \|/gm)].flatMap(([, cell]) =>
      [...(cell ?? "").matchAll(/\*\*(.+?)\*\*/g)].map(([, term]) => term),
    );
    expect(terms.length).toBeGreaterThanOrEqual(44);
    expect(new Set(terms).size).toBe(terms.length);
    expect(BANNED.filter((word) => word !== "util" && !page.includes(`\`${word}\``))).toEqual([]);
  });
});
