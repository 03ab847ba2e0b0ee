import { randomUUID } from 'node:crypto';
import { base64Url } from '../helpers.ts';
import { own } from './rows.ts';
import { directId } from './world.ts';

export const historyRows = {
  putHistory: [
    own((world) => ({
      body: { items: [{ id: randomUUID(), conversationId: directId(world), sealed: base64Url(90) }] },
    })),
  ],
  getHistory: [own()],
  deleteHistory: [own()],
};
