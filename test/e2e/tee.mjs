// Keeps what passes between a client and a server: node tee.mjs <file> <command> [args] writes <file>.in (towards the
// server) and <file>.out (from it).
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";

const [file, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const copy = (from, to, name) => {
  const kept = createWriteStream(name);
  from.on("data", (chunk) => {
    kept.write(chunk);
    to.write(chunk);
  });
  from.on("end", () => {
    kept.end();
    to.end();
  });
};
copy(process.stdin, child.stdin, `${file}.in`);
copy(child.stdout, process.stdout, `${file}.out`);
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
process.on("SIGTERM", () => child.kill("SIGTERM"));
