import { existsSync } from 'node:fs';

const places = [process.env.FIREFOX_PATH, '/usr/bin/firefox-esr', '/usr/bin/firefox'];

/** Path of an installed Firefox, or undefined. `FIREFOX_PATH` names one that stands elsewhere. */
export const firefoxPath = places.find((place) => place !== undefined && existsSync(place));
