/**
 * Who may import whom. `test/architecture/boundaries.test.ts` proves that each rule rejects a planted violation and that
 * the checker really saw every module: with another TypeScript it has been seen to look at none and report success.
 */
const LEAF = "^src/(stores|channels|adapters)/([^/]+)/";
const BESIDE_TEST = "[.]test[.]ts$";
/** A beside-test, or what several of them share. */
const BESIDE = "[.]test(-kit)?[.]ts$";
const KIT = "[.]test-kit[.]ts$";
const PACKAGES = ["npm", "npm-dev", "npm-peer", "npm-optional"];
/** The deciding side has a door of its own, so that whoever may only ask cannot reach it. */
const DECIDING_DOOR = "^src/core/approving[.]ts$";
const DECIDING_SIDE = "^src/core/(approving|approvals|ports/approvals)[.]ts$";
const CORE_DOORS = "^src/core/(index|approving)[.]ts$";
/** What the package publishes. */
const PUBLIC_DOORS =
  "^src/(index[.]ts|(stores|channels|adapters)/[^/]+/index[.]ts|(gateway|testing|policy|remote|server)/index[.]ts)$";

module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      comment: "Of what runs: two modules may name each other's types.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "core-imports-only-core",
      comment: "The domain stands alone, so that what it decides can be read and tested without anything else.",
      severity: "error",
      from: { path: "^src/core/", pathNot: BESIDE },
      to: { path: "^(src|test|scripts|bench|examples|bin)/", pathNot: "^src/core/" },
    },
    {
      name: "core-is-runtime-neutral",
      comment: "No Node module and no package: time, randomness and hashing come through the runtime port.",
      severity: "error",
      from: { path: "^src/core/", pathNot: BESIDE },
      to: { dependencyTypes: ["core", ...PACKAGES, "unknown", "undetermined"] },
    },
    {
      name: "others-use-the-core-door",
      severity: "error",
      from: { path: "^src/(?!core/)" },
      to: { path: "^src/core/", pathNot: CORE_DOORS },
    },
    {
      name: "only-deciders-import-the-deciding-side",
      comment: "Gates, stores, adapters and the relay may ask. Only what carries a person's answer may decide.",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/(core|channels|cli|server|testing)/", "^src/index[.]ts$", BESIDE] },
      to: { path: DECIDING_DOOR },
    },
    {
      name: "the-desk-port-has-no-way-to-approve",
      severity: "error",
      from: { path: "^src/core/ports/desk[.]ts$" },
      to: { path: DECIDING_SIDE },
    },
    {
      name: "leaves-are-strangers",
      severity: "error",
      from: { path: LEAF },
      to: { path: LEAF, pathNot: "^src/$1/$2/" },
    },
    {
      name: "leaves-know-no-composer",
      severity: "error",
      from: { path: "^src/(stores|channels|adapters|runtime|testing)/" },
      to: { path: "^src/(server|gateway|cli|ui|policy|remote|index[.]ts)" },
    },
    {
      name: "runtime-and-suites-know-no-leaf",
      severity: "error",
      from: { path: "^src/(runtime|testing)/", pathNot: BESIDE },
      to: { path: "^src/(stores|channels|adapters)/" },
    },
    {
      name: "published-doubles-stay-out-of-production",
      severity: "error",
      from: { path: "^src/(?!testing/)", pathNot: BESIDE },
      to: { path: "^src/testing/" },
    },
    {
      name: "ui-sees-only-the-contract-types",
      severity: "error",
      from: { path: "^src/ui/" },
      to: { path: "^src/", pathNot: "^src/(ui/|server/contract[.]ts$)" },
    },
    {
      name: "ui-takes-types-only",
      severity: "error",
      from: { path: "^src/ui/" },
      to: { path: "^src/server/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "only-the-cli-starts-the-cli",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(cli|ui)/" },
      to: { path: "^src/(cli|ui)/" },
    },
    {
      name: "packages-lazily-or-as-types",
      comment: "The library core pulls in no dependency; a leaf names the subset of a client that it uses as its own interface.",
      severity: "error",
      from: { path: "^src/(core|runtime|stores|channels|adapters|testing|index[.]ts)", pathNot: BESIDE },
      to: { dependencyTypes: PACKAGES, dependencyTypesNot: ["type-only"], dynamic: false },
    },
    {
      name: "tests-use-doors",
      comment:
        "Attacks and cases take parts to pieces and may go behind the doors. A test away from its file sees what a part lets others see; a test of one file sits beside that file.",
      severity: "error",
      from: { path: "^test/", pathNot: "^test/(architecture|pins|attacks|cases)/" },
      to: { path: "^src/", pathNot: [PUBLIC_DOORS, CORE_DOORS, "^src/runtime/node/index[.]ts$"] },
    },
    {
      name: "examples-use-what-is-published",
      severity: "error",
      from: { path: "^(examples|bench)/" },
      to: { path: "^src/", pathNot: PUBLIC_DOORS },
    },
    {
      name: "beside-tests-stay-beside",
      comment: "A test beside a file may open its own folder, the core's doors, and what is published.",
      severity: "error",
      from: { path: `^src/([^/]+)/.*${BESIDE}` },
      to: { path: "^src/", pathNot: ["^src/$1/", CORE_DOORS, "^src/runtime/", PUBLIC_DOORS] },
    },
    {
      name: "source-imports-no-test",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|scripts|bench|examples|bin)/" },
    },
    { name: "nobody-imports-a-test", severity: "error", from: {}, to: { path: BESIDE_TEST } },
    { name: "only-tests-import-a-test-kit", severity: "error", from: { pathNot: BESIDE }, to: { path: KIT } },
    {
      name: "no-undeclared-packages",
      severity: "error",
      from: {},
      to: { dependencyTypes: ["unknown", "undetermined", "npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "production-imports-no-dev-package",
      severity: "error",
      from: { path: "^(src|bin)/", pathNot: BESIDE },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    combinedDependencies: true,
    exclude: { path: "^([.][.]/)?(dist|coverage|reports|test/e2e/node_modules)/" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["types", "import", "node", "default"] },
  },
};
