// Builds the viewer into the Python package, with the digest of its source beside it.
import { createHash } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const assets = "../src/warex/view/assets";
await build({
  entryPoints: ["src/main.tsx"],
  bundle: true,
  minify: true,
  target: "es2022",
  format: "iife",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  outfile: `${assets}/app.js`,
});
for (const name of ["app.css", "icon.svg", "index.html"]) {
  copyFileSync(`src/${name}`, `${assets}/${name}`);
}

// tests/view/test_assets.py computes the same.
const digest = createHash("sha256");
const sources = ["build.mjs", "package.json", ...readdirSync("src").map((name) => `src/${name}`)];
for (const name of sources.sort()) {
  digest.update(`${name}\n`).update(readFileSync(name));
}
writeFileSync(`${assets}/source.txt`, `${digest.digest("hex")}\n`);
