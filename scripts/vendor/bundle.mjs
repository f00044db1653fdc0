// Make one ES module of each library of the explorer, with what they share in modules of its own, and write
// them to the folder named by the first argument, with imports.json (name of a library -> its file) and the
// licences. Some of the libraries are published for Node only, so browsers cannot load them as they are.
import { build } from "esbuild";
import { copyFile, mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const LIBRARIES = [
  "preact",
  "preact/hooks",
  "htm/preact",
  "graphology",
  "graphology-communities-louvain",
  "graphology-layout",
  "graphology-layout-forceatlas2",
  "graphology-layout-forceatlas2/worker",
  "graphology-layout-noverlap",
  "graphology-layout-noverlap/worker",
  "sigma",
  "sigma/rendering",
  "sigma/utils",
  "uplot",
];
const COPIED = { "uplot.css": "uplot/dist/uPlot.min.css" };
const HERE = dirname(fileURLToPath(import.meta.url));
const MODULES = join(HERE, "node_modules");
const LICENCE = /^(licen[cs]e|copying|notice)/i;

const fileOf = (name) => `${name.replaceAll("/", "-")}.js`;

/** The packages whose code is in the bundles. */
function packagesOf(inputs) {
  const names = Object.keys(inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(names.filter(Boolean))].sort();
}

async function licenceOf(name) {
  const { version, license } = JSON.parse(await readFile(join(MODULES, name, "package.json"), "utf8"));
  const found = (await readdir(join(MODULES, name))).find((file) => LICENCE.test(file));
  const text = found ? await readFile(join(MODULES, name, found), "utf8") : "";
  if (!text && !license) throw new Error(`${name} has no licence`);
  return `${name} ${version} (${license})\n\n${text.trim()}`;
}

async function main(target) {
  const folder = `${target}.new`;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: HERE,
    entryPoints: LIBRARIES.map((name) => ({ in: name, out: fileOf(name).slice(0, -3) })),
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "none",
    define: { "process.env.NODE_ENV": '"production"' },
    chunkNames: "shared-[hash]",
    outdir: folder,
    metafile: true,
    logLevel: "warning",
  });
  for (const [name, path] of Object.entries(COPIED)) await copyFile(join(MODULES, path), join(folder, name));
  const licences = await Promise.all(packagesOf(metafile.inputs).map(licenceOf));
  await writeFile(join(folder, "LICENSES.txt"), `${licences.join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
  const imports = Object.fromEntries(LIBRARIES.map((name) => [name, fileOf(name)]));
  await writeFile(join(folder, "imports.json"), `${JSON.stringify(imports, null, 2)}\n`);
  await rm(target, { recursive: true, force: true });
  await rename(folder, target);
}

await main(process.argv[2]);
