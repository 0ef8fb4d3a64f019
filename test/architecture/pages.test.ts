import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const pages = globSync(["*.md", "docs/**/*.md", "model/*.md"]);
const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { readonly scripts: Readonly<Record<string, string>> };

/** Code spans and relative links that name something in this tree. */
const namedIn = (page: string): string[] => {
  const text = readFileSync(page, "utf8");
  const spans = [...text.matchAll(/`((?:src|test|docs|model|scripts|bin|bench|examples|\.ci)\/[\w./@-]*)`/g)].map(
    ([, path]) => path ?? "",
  );
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(([, path]) => join(dirname(page), path ?? ""));
  return [...spans, ...links];
};

describe("the pages", () => {
  it("name files and folders that exist", () => {
    expect(pages.length).toBeGreaterThan(12);
    const named = pages.flatMap((page) => namedIn(page).map((path) => ({ page, path })));
    expect(named.length).toBeGreaterThan(60);
    expect(named.filter(({ path }) => !existsSync(path))).toEqual([]);
  });

  it("name scripts that exist", () => {
    const named = pages.flatMap((page) =>
      [...readFileSync(page, "utf8").matchAll(/npm run ([\w:-]+)/g)].map(([, script]) => ({ page, script: script ?? "" })),
    );
    expect(named.filter(({ script }) => manifest.scripts[script] === undefined)).toEqual([]);
  });

  it("tell what cannot be promised first", () => {
    expect(readFileSync("SECURITY.md", "utf8").match(/^## .*$/m)?.[0]).toBe("## What cannot be promised");
  });

  it("show the whole licence that the package claims", () => {
    expect(readFileSync("LICENSE", "utf8")).toMatch(/^\s*Apache License\n\s*Version 2\.0, January 2004/);
    expect(readFileSync("package.json", "utf8")).toContain('"license": "Apache-2.0"');
  });
});
