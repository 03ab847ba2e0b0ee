import type { Plugin } from 'vite';

/** Imports of zod's schemas, each with what takes its place. */
const replacements: readonly (readonly [imported: string, standIn: string])[] = [
  [`import * as processors from "../core/json-schema-processors.js";`, 'const processors = {};'],
  [
    `import { createStandardJSONSchemaMethod, createToJSONSchemaMethod } from "../core/to-json-schema.js";`,
    'const createStandardJSONSchemaMethod = () => undefined, createToJSONSchemaMethod = () => undefined;',
  ],
];

/**
 * Leaves what turns schemas into JSON Schema out of the client: every schema refers to it, so that nothing else could,
 * and the relay alone uses it, for its documentation.
 */
export function zodForClient(): Plugin {
  return {
    name: 'zod-for-client',
    apply: 'build',
    transform: {
      filter: { id: /\/node_modules\/zod\/v4\/classic\/schemas\.js$/ },
      handler(code) {
        let smaller = code;
        for (const [imported, standIn] of replacements) {
          if (!code.includes(imported)) this.error(`zod doesn't contain ${imported} any more`);
          smaller = smaller.replace(imported, standIn);
        }
        return { code: smaller, map: null };
      },
    },
  };
}
