import { knownSchema } from '../db/migrate.ts';
import { relayVersion } from '../version.ts';
import type { Command } from './command.ts';
import { facts } from './text.ts';

export const version: Command = {
  name: 'version',
  summary: 'The version of this program, of the schema that it knows, and of Node.js',
  async runAlone() {
    const versions = { version: relayVersion, schema: knownSchema(), node: process.versions.node };
    return {
      json: versions,
      text: facts({ 'sinetti-relay': versions.version, schema: versions.schema, 'Node.js': versions.node }),
    };
  },
};
