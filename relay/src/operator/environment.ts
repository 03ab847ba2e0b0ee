import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { StartupError } from '../errors.ts';

/**
 * Reads the settings in a file such as systemd's EnvironmentFile.
 * @param file `-` for the standard input, which root can open before the command is another account's
 * @throws StartupError if it can't be read
 */
export function loadEnvironment(file: string): Record<string, string | undefined> {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new StartupError(
      `${file} can't be read: ${error instanceof Error ? error.message : 'unknown reason'}.`,
    );
  }
  return parseEnv(text);
}
