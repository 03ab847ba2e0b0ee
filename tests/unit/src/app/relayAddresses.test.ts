import { expect, it } from 'vitest';
import { relayAddresses } from '#src/app/relayAddresses.ts';

const page = 'https://sinetti.example';

const api = 'https://relay.example';
const broker = 'wss://broker.example:8443/mqtt';
const unset = null;

it.each([
  { what: 'nothing', apiHost: unset, mqttUrl: unset, at: ['', 'wss://sinetti.example/mqtt'] },
  { what: 'the host of the API', apiHost: api, mqttUrl: unset, at: [api, 'wss://relay.example/mqtt'] },
  { what: 'the address of the broker', apiHost: unset, mqttUrl: broker, at: ['', broker] },
  { what: 'both', apiHost: api, mqttUrl: broker, at: [api, broker] },
])('where the settings name $what, that is where the relay is', ({ at, ...settings }) => {
  const addresses = relayAddresses(settings, page);
  expect([addresses.apiHost, addresses.mqttUrl]).toEqual(at);
});

it.each([
  ['http://localhost:8080', unset, 'ws://localhost:8080/ws/presence/'],
  [page, unset, 'wss://sinetti.example/ws/presence/'],
  [page, api, 'wss://relay.example/ws/presence/'],
])('the presence socket of %s with %j is at %s', (origin, apiHost, expected) => {
  expect(relayAddresses({ apiHost, mqttUrl: unset }, origin).presenceUrl).toBe(expected);
});
