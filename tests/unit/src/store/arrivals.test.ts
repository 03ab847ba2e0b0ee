import { expect, it } from 'vitest';
import { createArrivals } from '#src/store/arrivals.ts';
import { aino, chat, message, veikko } from '../support/app.tsx';

const began = Date.parse('2026-06-01T12:00:00.000Z');
const before = { timestamp: '2026-06-01T11:59:59.000Z' };
const after = { timestamp: '2026-06-01T12:00:01.000Z' };

function texts(arrivals: ReturnType<ReturnType<typeof createArrivals>>) {
  return arrivals.map(
    ({ key, message: { content } }) => `${key}: ${content.kind === 'text' && content.text}`,
  );
}

it('arrivals tell each message of others once, of each chat the newest', () => {
  const arrivalsIn = createArrivals(began);
  const history = message(veikko.id, 'history', before);
  const one = message(veikko.id, 'one', after);
  const two = message(veikko.id, 'two', after);
  expect(arrivalsIn({ [veikko.id]: chat([history]) }, aino.id)).toEqual([]);
  const both = { [veikko.id]: chat([history, one, two]) };
  expect(texts(arrivalsIn(both, aino.id))).toEqual(['veikko-id: two']);
  expect(arrivalsIn(both, aino.id)).toEqual([]);
});

it('arrivals leave out what this person wrote, and what has no place in the log yet', () => {
  const arrivalsIn = createArrivals(began);
  arrivalsIn({ [veikko.id]: chat([]) }, aino.id);
  const own = message(aino.id, 'own', after);
  const waiting = message(aino.id, 'waiting', { ...after, seq: null, status: 'sending' });
  expect(arrivalsIn({ [veikko.id]: chat([own]) }, aino.id)).toEqual([]);
  expect(arrivalsIn({ [veikko.id]: chat([own, waiting]) }, aino.id)).toEqual([]);
});

it('arrivals tell no message again after a newer one was deleted here, or one was edited', () => {
  const arrivalsIn = createArrivals(began);
  const one = message(veikko.id, 'one', after);
  const two = message(veikko.id, 'two', after);
  arrivalsIn({ [veikko.id]: chat([one, two]) }, aino.id);
  expect(arrivalsIn({ [veikko.id]: chat([one]) }, aino.id)).toEqual([]);
  const edited = { ...two, content: { kind: 'text', text: 'two again' }, isEdited: true } as const;
  expect(arrivalsIn({ [veikko.id]: chat([one, edited]) }, aino.id)).toEqual([]);
});

it('arrivals tell the first message of a chat that has begun since, and not one of a chat that was only found late', () => {
  const arrivalsIn = createArrivals(began);
  arrivalsIn({ [veikko.id]: chat([]) }, aino.id);
  const chats = {
    [veikko.id]: chat([message(veikko.id, 'first', before)]),
    new: chat([message('new', 'hello', after)]),
    late: chat([message('late', 'old', before)]),
  };
  expect(texts(arrivalsIn(chats, aino.id))).toEqual(['veikko-id: first', 'new: hello']);
});
