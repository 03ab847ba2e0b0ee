// The readable report, and the aims it is judged by.
import { cpus, loadavg } from 'node:os';
import { median } from '../statistics.mjs';

export const machine = () => ({
  processor: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  node: process.version,
  load: loadavg()[0],
});

/**
 * @param {{ name: string, unit: string, server: string, value: number, samples: number[] }[]} results
 * @returns {{ text: string, missed: number }} the report, and how many of its aims were missed
 */
export function report(results, facts) {
  const judged = aims(results);
  const names = [...new Set(results.map(({ name }) => name))];
  const lines = [
    `${facts.processor}, ${facts.cores} cores, Node ${facts.node}, Mosquitto ${facts.mosquitto ?? 'left out'};`,
    `load ${facts.load.toFixed(1)} before, ${facts.loadAfter.toFixed(1)} after (other work on the machine is in it)`,
    '',
    '| | relay | Mosquitto | relay / Mosquitto |',
    '|---|---|---|---|',
    ...names.map((name) => row(name, results)),
    '',
    ...judged.map(({ aim, measured, met }) => `- ${met ? 'met' : 'MISSED'}: ${aim}; measured ${measured}`),
  ];
  return { text: `${lines.join('\n')}\n`, missed: judged.filter(({ met }) => !met).length };
}

function row(name, results) {
  const [relay, mosquitto] = ['relay', 'mosquitto'].map((server) => find(results, name, server));
  const shown = (result) => (result === undefined ? '' : `${amount(result.value)} ${result.unit}`);
  const beside = relay === undefined || mosquitto === undefined ? '' : ratio(relay, mosquitto).toFixed(2);
  return `| ${name} | ${shown(relay)} | ${shown(mosquitto)} | ${beside} |`;
}

const amount = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1));

const find = (results, name, server) => results.find((each) => each.name === name && each.server === server);

/** The median over the rounds of the ratio within each: what slows the machine down slows both, and falls out. */
function ratio(relay, mosquitto) {
  return median(relay.samples.map((sample, round) => sample / mosquitto.samples[round]));
}

function aims(results) {
  const names = [...new Set(results.map(({ name }) => name))];
  const beside = (start, wanted) => {
    const name = names.find((each) => each.startsWith(start) && !each.includes(':'));
    const [relay, mosquitto] = ['relay', 'mosquitto'].map((server) => find(results, name, server));
    if (relay === undefined || mosquitto === undefined) return [];
    const measured = ratio(relay, mosquitto);
    return verdict(`${name}: at least ${wanted} of Mosquitto's`, measured.toFixed(2), measured >= wanted);
  };
  const atMost = (start, wanted) => {
    const relay = results.find((each) => each.name.startsWith(start) && each.server === 'relay');
    if (relay === undefined) return [];
    const measured = `${relay.value.toFixed(1)} ${relay.unit}`;
    return verdict(`${relay.name}: under ${wanted} ${relay.unit}`, measured, relay.value < wanted);
  };
  return [
    ...beside('direct messages, MQTT', 0.5),
    ...beside('fan-out 1 to 100, deliveries of QoS 0', 1),
    ...beside('fan-out 1 to 100, deliveries of QoS 1', 1),
    ...atMost('polls, conditional: processor time of one', 100),
    ...atMost('an idle connection', 10),
    ...atMost('resident at rest', 143),
  ];
}

const verdict = (aim, measured, met) => [{ aim, measured, met }];
