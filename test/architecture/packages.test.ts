import { globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import ts from "typescript";
import { describe, expect, it } from "vitest";

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}
const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;

interface BareImport {
  readonly file: string;
  readonly name: string;
  readonly how: "value" | "type" | "lazy";
}

/** `import type` and `export type` statements, and those whose every name is `type`, leave nothing behind when compiled. */
const isTypeOnly = (node: ts.ImportDeclaration | ts.ExportDeclaration): boolean => {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
};

const importsOf = (file: string): BareImport[] => {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ES2023, true);
  const found: BareImport[] = [];
  const add = (specifier: ts.Node | undefined, how: BareImport["how"]): void => {
    if (specifier === undefined || !ts.isStringLiteral(specifier) || /^[./]/.test(specifier.text) || isBuiltin(specifier.text))
      return;
    const [scope, name] = specifier.text.split("/");
    found.push({ file, how, name: scope?.startsWith("@") ? `${scope}/${name}` : `${scope}` });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node))
      add(node.moduleSpecifier, isTypeOnly(node) ? "type" : "value");
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0], "lazy");
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, "type");
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
};

describe("packages", () => {
  const files = globSync("src/**/*.ts").filter((file) => !/\.test(-kit)?\.ts$/.test(file));
  const imports = files.flatMap(importsOf);
  const optional = { ...manifest.peerDependencies, ...manifest.optionalDependencies };

  it("that the source names are declared; what it runs is no dev dependency", () => {
    const undeclared = imports.filter(({ name, how }) => {
      if (name in manifest.dependencies || name in optional) return false;
      return how !== "type" || !(name in manifest.devDependencies);
    });
    expect(undeclared).toEqual([]);
  });

  it("that are declared are used", () => {
    const used = new Set(imports.map(({ name }) => name));
    expect([...Object.keys(manifest.dependencies), ...Object.keys(optional)].filter((name) => !used.has(name))).toEqual([]);
  });

  it("reach the library's core, stores, channels and adapters lazily or as types", () => {
    const library = /^src\/(core|runtime|stores|channels|adapters|testing)\/|^src\/index\.ts$/;
    expect(imports.filter(({ file, how }) => how === "value" && library.test(file))).toEqual([]);
  });

  it("that are optional are marked so and never imported at load", () => {
    const peers = Object.keys(manifest.peerDependencies ?? {});
    expect(peers.filter((name) => manifest.peerDependenciesMeta?.[name]?.optional !== true)).toEqual([]);
    expect(imports.filter(({ name, how }) => how === "value" && name in optional)).toEqual([]);
  });

  it("have one exact version each, and the lock names no registry", () => {
    const versions = { ...manifest.dependencies, ...manifest.devDependencies };
    expect(Object.entries(versions).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
    for (const lock of globSync("{package-lock.json,test/e2e/package-lock.json}")) {
      expect(readFileSync(lock, "utf8").match(/"resolved":\s*"http[^"]*"/g) ?? []).toEqual([]);
    }
  });
});
