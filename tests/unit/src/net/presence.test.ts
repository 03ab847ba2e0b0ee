import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createPresence, type Presence, type PresenceListeners } from '#src/net/presence.ts';
import { capturedLog } from './support/capturedLog.ts';
import { FakeClock } from './support/fakeClock.ts';

const me = '00000000-0000-4000-8000-000000000001';
const peer = '00000000-0000-4000-8000-000000000002';

class FakeSocket extends EventTarget {
  readonly OPEN = 1;
  readyState = 0;
  readonly sent: unknown[] = [];
  closedWith: number | null = null;

  send(data: string): void {
    this.sent.push(JSON.parse(data));
  }

  close(code: number): void {
    this.closedWith = code;
  }

  accept(): void {
    this.readyState = this.OPEN;
    this.dispatchEvent(new Event('open'));
  }

  receive(data: unknown): void {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    this.dispatchEvent(new MessageEvent('message', { data: text }));
  }

  lose(): void {
    this.readyState = 3;
    this.dispatchEvent(new Event('error'));
    this.dispatchEvent(new Event('close'));
  }
}

let sockets: FakeSocket[];
let clock: FakeClock;
let token: string | null;
let lines: string[];
let presence: Presence;
const listeners = {
  onOnlineUsers: vi.fn<PresenceListeners['onOnlineUsers']>(),
  onChange: vi.fn<PresenceListeners['onChange']>(),
  onLost: vi.fn<PresenceListeners['onLost']>(),
};

beforeEach(() => {
  sockets = [];
  clock = new FakeClock();
  token = 'a.b.c';
  for (const listener of Object.values(listeners)) listener.mockClear();
  const captured = capturedLog();
  lines = captured.lines;
  presence = createPresence({
    url: 'wss://relay.example/ws/presence/',
    userId: me,
    token: () => token,
    listeners,
    clock,
    random: () => 1,
    log: captured.log,
    createSocket: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
  });
});

function socket(): FakeSocket {
  const last = sockets.at(-1);
  if (last === undefined) throw new Error('no socket was made');
  return last;
}

describe('the presence socket', () => {
  it('says who is here, with the token in the first message and not in the address', () => {
    presence.open();
    socket().accept();
    expect(socket().sent).toEqual([{ userId: me, online: true, token: 'a.b.c' }]);
  });

  it('pings every 30 seconds', async () => {
    presence.open();
    socket().accept();
    await clock.advance(60_000);
    expect(socket().sent.slice(1)).toEqual([{ type: 'ping' }, { type: 'ping' }]);
  });

  it('hears who is online, and changes', () => {
    presence.open();
    socket().accept();
    socket().receive({ type: 'online_users', userIds: [peer] });
    socket().receive({ userId: peer, online: false });
    socket().receive({ type: 'pong' });
    expect(listeners.onOnlineUsers).toHaveBeenCalledExactlyOnceWith([peer]);
    expect(listeners.onChange).toHaveBeenCalledExactlyOnceWith({ userId: peer, online: false });
    expect(lines).toEqual([]);
  });

  it.each([
    ['no JSON', '{'],
    ['an id that is none', { userId: 'anna', online: true }],
    ['a list of numbers', { type: 'online_users', userIds: [1] }],
  ])('drops and logs %s', (_name, data) => {
    presence.open();
    socket().accept();
    socket().receive(data);
    expect(listeners.onOnlineUsers).not.toHaveBeenCalled();
    expect(listeners.onChange).not.toHaveBeenCalled();
    expect(lines).toEqual([expect.stringContaining('invalid-event')]);
  });

  it('forgets everybody when it is lost, and comes back', async () => {
    presence.open();
    socket().accept();
    socket().receive({ type: 'online_users', userIds: [peer] });
    socket().lose();
    expect(listeners.onLost).toHaveBeenCalledOnce();
    await clock.advance(1_000);
    expect(sockets).toHaveLength(2);
  });

  it('waits longer each time for a relay that opens and then refuses', async () => {
    presence.open();
    for (const wait of [1_000, 2_000, 4_000]) {
      socket().accept();
      socket().lose();
      const before = sockets.length;
      await clock.advance(wait - 1);
      expect(sockets).toHaveLength(before);
      await clock.advance(1);
      expect(sockets).toHaveLength(before + 1);
    }
  });

  it('says goodbye when it is closed, and stays closed', async () => {
    presence.open();
    socket().accept();
    presence.close();
    expect(socket().sent.at(-1)).toEqual({ userId: me, online: false });
    expect(socket().closedWith).toBe(1000);
    socket().lose();
    await clock.advance(600_000);
    expect(sockets).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('is not set up without a token', async () => {
    token = null;
    presence.open();
    await clock.advance(10_000);
    expect(sockets).toHaveLength(0);
  });
});
