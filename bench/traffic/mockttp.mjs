// node mockttp.mjs FOLDER KEY CERTIFICATE   prints its port; ends with standard input
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [folder, keyFile, certificateFile] = process.argv.slice(2);
const { getLocal } = createRequire(`${folder}/package.json`)("mockttp");
const key = readFileSync(keyFile, "utf8").match(/-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?KEY-----/)[0];
const server = getLocal({
  recordTraffic: false,
  https: { key, cert: readFileSync(certificateFile, "utf8") },
});
await server.forAnyRequest().thenPassThrough({ ignoreHostHttpsErrors: true });
await server.start();
console.log(server.port);
process.stdin.resume().on("end", () => process.exit(0));
