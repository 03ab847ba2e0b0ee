import { existsSync } from 'node:fs';

const places = [
  process.env.CHROMIUM_PATH,
  // The same engine without the windows around it: a story takes two thirds of the time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Path of an installed Chromium, or undefined. `CHROMIUM_PATH` names one that stands elsewhere. */
export const chromiumPath = places.find((place) => place !== undefined && existsSync(place));

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
