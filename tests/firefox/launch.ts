import { type Browser, launch } from 'puppeteer-core';
import { firefoxPath } from './program.mjs';

interface FirefoxOptions {
  /** True if the browser's own pages may be read, which know its processes. */
  readonly withSystemAccess?: boolean;
}

export async function launchFirefox({ withSystemAccess = false }: FirefoxOptions = {}): Promise<Browser> {
  if (firefoxPath === undefined) throw new Error('no Firefox');
  return launch({
    browser: 'firefox',
    executablePath: firefoxPath,
    args: withSystemAccess ? ['-remote-allow-system-access'] : [],
  });
}
