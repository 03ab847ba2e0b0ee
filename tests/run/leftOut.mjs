// Says what this machine lacks for a part of the tests, and how to have it.
import { spawnSync } from 'node:child_process';
import { missingServers } from '../../relay/test/servers/binaries.mjs';
import { mosquittoVersion } from '../bench/relay/servers.mjs';
import { chromiumPath } from '../e2e/browser.mjs';
import { firefoxPath } from '../firefox/program.mjs';
import { ofPlaywright } from './projects.mjs';
import { share } from './share.mjs';

const install = (packages) => `Debian: apt-get install ${packages.join(' ')}`;

/** Lists tests without running them. @returns how many, or null where they could not be listed */
function listed(command, args, countIn, env = {}) {
  const { status, stdout } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, CI: 'true', ...env },
    maxBuffer: 2 ** 28,
    shell: process.platform === 'win32',
  });
  try {
    return status === 0 ? countIn(stdout) : null;
  } catch {
    return null;
  }
}

const stories = (projects, env) =>
  listed(
    'playwright',
    ['test', '--list', ...ofPlaywright(projects)],
    (text) => Number(/^Total: (\d+)/m.exec(text)[1]),
    env,
  );
const unitTests = (project) =>
  listed(
    'vitest',
    ['list', '--project', project, '--json'],
    (text) => JSON.parse(text.slice(text.indexOf('['))).length,
  );

const counted = (number, what) => `${number === null ? 'The' : number} ${what}`;

/** @param projects of Vitest and Playwright that the run wants. @returns a sentence for each part that can't be run */
export function leftOut(projects) {
  const sentences = [];
  if (chromiumPath === undefined) {
    sentences.push(
      `${counted(stories(projects), 'stories in a real browser')}: no Chromium. ${install(['chromium'])}, or name one in CHROMIUM_PATH.`,
    );
  }
  const whole = share === undefined ? null : stories(projects, { SINETTI_TEST_SHARE: '' });
  const played = whole === null ? null : stories(projects);
  if (whole !== played) {
    sentences.push(
      `${counted(whole - played, 'stories')}: they belong to the other parts, and this is part ${share.number} of ${share.of}. Without SINETTI_TEST_SHARE all are played.`,
    );
  }
  if (projects.e2e.includes('firefox') && firefoxPath === undefined) {
    sentences.push(
      `The tests in Firefox: no Firefox. ${install(['firefox-esr'])}, or name one in FIREFOX_PATH.`,
    );
  }
  const servers = missingServers();
  if (projects.unit.includes('relay-postgres') && servers.length > 0) {
    sentences.push(
      `${counted(unitTests('relay-postgres'), 'tests of the relay on PostgreSQL and Redis')}: no ${servers.join(', no ')}. ${install(servers)}.`,
    );
  }
  if (mosquittoVersion() === null) {
    sentences.push(
      `No test needs Mosquitto; npm run bench:relay, which measures the relay beside it, does. ${install(['mosquitto'])}.`,
    );
  }
  return sentences;
}
