import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'vite';
import { type Operator, parseOperator } from '../src/operator/schema.ts';

const ownFile = path.resolve(import.meta.dirname, '../src/operator/operator.json');
const manifest = 'manifest.webmanifest';

/**
 * Puts the operator's settings into the client while it is built: the file that `OPERATOR_FILE` names, else the one in src/operator.
 * A wrong file stops the build.
 */
export function operatorSettings(): Plugin {
  const file = process.env.OPERATOR_FILE ?? ownFile;
  let settings: Promise<Operator> | undefined;
  const read = () => {
    settings ??= readFile(file, 'utf8').then((text) => parseOperator(text, file));
    return settings;
  };
  let publicDir = '';

  return {
    name: 'operator-settings',
    enforce: 'pre',
    configResolved(config) {
      publicDir = config.publicDir;
    },
    async buildStart() {
      const { supportEmail, privacyEmail } = await read();
      const unreachable = [supportEmail, privacyEmail].filter((address) => address?.endsWith('.example'));
      if (unreachable.length > 0) {
        this.info(
          `nobody reads ${unreachable.join(' and ')}: see src/operator/README.md before others use this`,
        );
      }
    },
    load: {
      filter: { id: /\/src\/operator\/operator\.json$/ },
      handler: async () => JSON.stringify(await read()),
    },
    transformIndexHtml: {
      order: 'pre',
      handler: async (html) => html.replaceAll('%productName%', escapeHtml((await read()).productName)),
    },
    async generateBundle() {
      const { productName } = await read();
      const kept = JSON.parse(await readFile(path.join(publicDir, manifest), 'utf8')) as object;
      const named = { ...kept, name: productName, short_name: productName };
      this.emitFile({ type: 'asset', fileName: manifest, source: JSON.stringify(named) });
    },
  };
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (mark) => `&#${mark.codePointAt(0)};`);
}
