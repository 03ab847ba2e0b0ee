// npm run vectors:publish: writes our vectors of the X-Wing suite and of the extensions draft anew, from their seed.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'vite';

const usage = `npm run vectors:publish -- [options]
  --to <folder>  where they are written; over those of this repository if not given
`;

const { values } = parseArgs({
  options: { to: { type: 'string' }, help: { type: 'boolean', default: false } },
});
if (values.help) process.stdout.write(usage);
else await write(values.to ?? fileURLToPath(new URL('.', import.meta.url)));

async function write(to) {
  const folder = await mkdtemp(fileURLToPath(new URL('../../../node_modules/.publish-', import.meta.url)));
  try {
    await build({
      configFile: false,
      logLevel: 'error',
      build: {
        ssr: fileURLToPath(new URL('generate.ts', import.meta.url)),
        outDir: folder,
        minify: false,
        rolldownOptions: {
          external: [/^libsodium/, /^node:/],
          output: { entryFileNames: 'generate.mjs', codeSplitting: false },
        },
      },
    });
    const { generate, ready } = await import(pathToFileURL(join(folder, 'generate.mjs')).href);
    await ready();
    for (const [name, cases] of Object.entries(generate())) {
      await writeFile(join(to, name), `${JSON.stringify(cases, null, 1)}\n`);
      process.stdout.write(`${name}: ${cases.length}\n`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
