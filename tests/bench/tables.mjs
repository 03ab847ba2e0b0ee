// The readable report, and the aims it is judged by.
import { median, quantile, timesAsMuch } from './statistics.mjs';

const AIM_BARE = { send: 1.25, receive: 1.1 };
const AIM_DURABLE = 10;
const OURS = 'crypto-core';
const LARGE = 1000;

const suiteName = (suite) => (suite === null ? '' : `0x${suite.toString(16).padStart(4, '0')}`);

function pick(measurements, wanted) {
  return measurements.filter((each) => Object.entries(wanted).every(([key, value]) => each[key] === value));
}

/**
 * @param {boolean} quick a smoke test is too short to judge times by, so only what is exact is judged
 * @returns {{ name: string, wanted: string, measured: string, met: boolean, exact: boolean }[]} an aim that nothing
 *   was measured for is left out
 */
export function judge({ measurements }, quick) {
  const timed = quick ? [] : [...aimsBesideBare(measurements), ...aimsBesideTsMls(measurements)];
  return [...timed, ...aimsOfSize(measurements)];
}

function aimsBesideBare(measurements) {
  return ['send', 'receive'].flatMap((operation) => {
    const [bare] = pick(measurements, { library: 'bare libsodium', operation });
    const ours = pick(measurements, { library: OURS, kind: 'memory', operation });
    if (bare === undefined || ours.length === 0) return [];
    const ratios = ours.map((one) => timesAsMuch(one, bare));
    const worst = Math.max(...ratios);
    return {
      name: `${operation}: crypto-core beside the bare primitives, worst of all groups and suites`,
      wanted: `at most ${AIM_BARE[operation]} times`,
      measured: `${worst.toFixed(2)} times`,
      met: worst <= AIM_BARE[operation],
      exact: false,
    };
  });
}

function aimsBesideTsMls(measurements) {
  return ['send', 'receive'].flatMap((operation) => {
    const of = { kind: 'durable', operation, members: LARGE };
    const [theirs] = pick(measurements, { ...of, library: 'ts-mls' });
    const ours = pick(measurements, { ...of, library: OURS });
    if (theirs === undefined || ours.length === 0) return [];
    const worst = Math.min(...ours.map((one) => timesAsMuch(theirs, one)));
    return {
      name: `${operation}, state saved durably, ${LARGE} members: ts-mls beside crypto-core`,
      wanted: `at least ${AIM_DURABLE} times`,
      measured: `${worst.toFixed(1)} times`,
      met: worst >= AIM_DURABLE,
      exact: false,
    };
  });
}

function aimsOfSize(measurements) {
  return ['send', 'receive'].flatMap((operation) => {
    const ours = pick(measurements, { library: OURS, kind: 'durable', operation });
    if (ours.length === 0) return [];
    const sizes = ours.map(({ bytesPerMessage }) => bytesPerMessage);
    const least = Math.min(...sizes);
    const most = Math.max(...sizes);
    return {
      name: `${operation}: bytes of state written per message, all groups and suites`,
      // A key in the store names a leaf, so its length may differ by the digits of a number.
      wanted: 'not growing with the group',
      measured: least === most ? `${most} bytes` : `${least} to ${most} bytes`,
      met: most - least <= 8,
      exact: true,
    };
  });
}

/** @returns {string} the whole report, ready to print */
export function table(result, aims, machine) {
  return [
    '',
    `${machine.processor}, ${machine.cores} cores, load ${machine.loadBefore.toFixed(2)} before and ` +
      `${machine.loadAfter.toFixed(2)} after; ${machine.userAgent}`,
    '',
    ...section(`A ${result.bytes}-byte message in memory, µs`, memoryRows(result)),
    ...section('The same, with the new state saved durably, µs', durableRows(result)),
    ...section('First message of a sender in an epoch, µs', firstRows(result)),
    ...section('Building the group and joining it', setUpRows(result)),
    ...section(
      'Aims',
      aims.map((aim) => [aim.met ? 'met' : 'MISSED', aim.name, aim.wanted, aim.measured]),
    ),
  ].join('\n');
}

const describe = ({ library, suite, members }) => [library, suiteName(suite), members ?? ''];
const spread = ({ rounds }) => [
  median(rounds).toFixed(1),
  `${quantile(rounds, 0.25).toFixed(1)}..${quantile(rounds, 0.75).toFixed(1)}`,
];

function pairs(result, kind) {
  const measured = pick(result.measurements, { kind });
  return pick(measured, { operation: 'send' }).map((send) => {
    const { library, suite, members } = send;
    return { send, receive: pick(measured, { library, suite, members, operation: 'receive' })[0] };
  });
}

function memoryRows(result) {
  const [bare] = pairs(result, 'memory').filter(({ send }) => send.library === 'bare libsodium');
  const besideBare = (one, operation) =>
    bare === undefined ? '' : `${timesAsMuch(one, bare[operation]).toFixed(2)}x bare`;
  return pairs(result, 'memory').map(({ send, receive }) => [
    ...describe(send),
    ...spread(send),
    besideBare(send, 'send'),
    ...spread(receive),
    besideBare(receive, 'receive'),
  ]);
}

function durableRows(result) {
  const measured = pairs(result, 'durable');
  const theirs = (members) =>
    measured.find(({ send }) => send.library === 'ts-mls' && send.members === members);
  const cheaper = (one, operation) => {
    const other = theirs(one.members);
    if (other === undefined || one.library !== OURS) return '';
    return `ts-mls ${timesAsMuch(other[operation], one).toFixed(1)}x`;
  };
  return measured.map(({ send, receive }) => [
    ...describe(send),
    ...spread(send),
    `${send.bytesPerMessage} B`,
    cheaper(send, 'send'),
    ...spread(receive),
    `${receive.bytesPerMessage} B`,
    cheaper(receive, 'receive'),
  ]);
}

function firstRows(result) {
  return pick(result.measurements, { kind: 'first' }).map((one) => [
    ...describe(one),
    one.operation,
    ...spread(one),
    `${one.bytesPerMessage} B`,
  ]);
}

function setUpRows(result) {
  return result.setUps.map((setUp) => [
    ...describe(setUp),
    `${(setUp.milliseconds / 1000).toFixed(2)} s`,
    setUp.epoch === null
      ? ''
      : `${setUp.epoch.bytes} B once an epoch, loaded in ${setUp.epoch.loadMilliseconds.toFixed(1)} ms`,
  ]);
}

function section(title, rows) {
  if (rows.length === 0) return [];
  const widths = [];
  for (const row of rows) {
    row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, String(cell).length)));
  }
  const lines = rows.map((row) =>
    row
      .map((cell, i) =>
        typeof cell === 'string' ? cell.padEnd(widths[i]) : String(cell).padStart(widths[i]),
      )
      .join('  ')
      .trimEnd(),
  );
  return [title, ...lines.map((line) => `  ${line}`), ''];
}
