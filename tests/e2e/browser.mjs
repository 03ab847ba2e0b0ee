import { existsSync } from 'node:fs';

const isThere = (place) => place !== undefined && existsSync(place);

const whole = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
/** The same engine without the windows around it: a story takes two thirds of the time. */
const withoutWindows = '/usr/bin/chromium-headless-shell';

/** Path of an installed Chromium, or undefined. `CHROMIUM_PATH` names one that stands elsewhere. */
export const chromiumPath = [process.env.CHROMIUM_PATH, withoutWindows, ...whole].find(isThere);

/** No sandbox, since CI runs as root in a container; no background traffic, which would only be noise; a microphone that beeps. */
export const chromiumArgs = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--use-fake-device-for-media-stream',
];

/**
 * For `test.use` in stories of what a window has and the engine alone has not: notifications, a microphone, a clipboard, sessions that it restores, the
 * pictures that are kept of screens, its own name in what it asks for.
 */
export const wholeBrowser = {
  launchOptions: { executablePath: whole.find(isThere) ?? chromiumPath, args: chromiumArgs },
};
