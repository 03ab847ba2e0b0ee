import { defaultClientConditions, defaultServerConditions } from 'vite';

/** The condition under which crypto-core's package.json names its sources; everybody else gets what it builds to. */
const condition = '@sinetti/source';

/** For each configuration of Vite that reaches crypto-core by its name: it needs no build first. */
export const fromSource = {
  resolve: { conditions: [condition, ...defaultClientConditions] },
  ssr: { resolve: { conditions: [condition, ...defaultServerConditions] } },
};
