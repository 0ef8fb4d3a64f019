import { describe, expect, it } from "vitest";
import { groupDirectory } from "./directory.ts";

const groups = new Map<string, readonly string[]>([
  ["group:finance", ["ada", "slack:U1", "group:leads"]],
  ["group:leads", ["bob"]],
  ["group:a", ["group:b"]],
  ["group:b", ["group:a"]],
]);
const directory = groupDirectory(() => groups);
const person = (principal: string, as = `slack:${principal}`) => ({ principal, as });

describe("groupDirectory", () => {
  it("finds people by principal, by identity, and through groups of groups", async () => {
    expect(await directory.holds("group:finance", person("ada"))).toBe(true);
    expect(await directory.holds("group:finance", person("x", "slack:U1"))).toBe(true);
    expect(await directory.holds("group:finance", person("bob"))).toBe(true);
    expect(await directory.holds("group:leads", person("ada"))).toBe(false);
    expect(await directory.holds("ada", person("ada"))).toBe(true);
    expect(await directory.holds("slack:U9", person("ada", "slack:U9"))).toBe(true);
  });

  it("P-14 finds nobody in a group that is not defined, and ends in one that contains itself", async () => {
    expect(await directory.holds("group:nobody", person("ada"))).toBe(false);
    expect(await directory.holds("group:a", person("ada"))).toBe(false);
  });

  it("P-09 takes nobody for a group because of a name", async () => {
    expect(await directory.holds("group:finance", person("group:finance"))).toBe(false);
    expect(await directory.holds("group:finance", person("group:leads"))).toBe(false);
    expect(await directory.holds("role:admin", person("x", "role:admin"))).toBe(false);
  });

  it("knows no owners", async () => {
    expect(await directory.ownerOf("bot")).toBeUndefined();
  });
});
