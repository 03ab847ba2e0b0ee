import { describe, expect, it } from 'vitest';
import { Hub } from '../src/realtime/hub.ts';

const newHub = () => {
  const errors: unknown[] = [];
  return { hub: new Hub((error) => errors.push(error)), errors };
};

describe('the hub of one relay', () => {
  it('delivers to the listeners of a topic, in order, until they unsubscribe', () => {
    const { hub } = newHub();
    const heard: string[] = [];
    const stop = hub.subscribe('a', (payload) => heard.push(`1${payload}`));
    hub.subscribe('a', (payload) => heard.push(`2${payload}`));
    hub.subscribe('b', (payload) => heard.push(`3${payload}`));
    hub.publish('a', 'x');
    stop();
    stop();
    hub.publish('a', 'y');
    hub.publish('nobody listens', 'z');
    expect(heard).toEqual(['1x', '2x', '2y']);
  });

  it('keeps a listener that subscribed after another of the same topic had gone', () => {
    const { hub } = newHub();
    const heard: string[] = [];
    const stop = hub.subscribe('a', () => heard.push('first'));
    stop();
    hub.subscribe('a', () => heard.push('second'));
    stop();
    hub.publish('a', '');
    expect(heard).toEqual(['second']);
  });

  it('reports a listener that throws, and delivers to the others', () => {
    const { hub, errors } = newHub();
    const heard: string[] = [];
    const failure = new Error('broken');
    hub.subscribe('a', () => {
      throw failure;
    });
    hub.subscribe('a', (payload) => heard.push(payload));
    hub.publish('a', 'x');
    expect(heard).toEqual(['x']);
    expect(errors).toEqual([failure]);
  });

  it('lets listeners come and go while it delivers', () => {
    const { hub } = newHub();
    const heard: string[] = [];
    const stop = hub.subscribe('a', () => {
      heard.push('once');
      stop();
      hub.subscribe('a', () => heard.push('later'));
    });
    hub.publish('a', '');
    expect(heard).toEqual(['once']);
    hub.publish('a', '');
    expect(heard).toEqual(['once', 'later']);
  });

  it('passes signals to a listener until it stops', () => {
    const { hub } = newHub();
    const heard: unknown[] = [];
    const stop = hub.onSignal('s', (signal) => heard.push(signal));
    hub.signal({ type: 'session-ended', sessionId: 's', code: 'session-expired' });
    stop();
    hub.signal({ type: 'session-ended', sessionId: 's', code: 'session-expired' });
    expect(heard).toEqual([{ type: 'session-ended', sessionId: 's', code: 'session-expired' }]);
  });

  it('passes a signal to those alone who listen for a session or person that it is about', () => {
    const { hub } = newHub();
    const heard: string[] = [];
    const stops = ['s', 't', 'aino', 'eero'].map((id) => {
      return hub.onSignal(id, (signal) => heard.push(`${id} ${signal.type}`));
    });
    hub.signal({ type: 'session-ended', sessionId: 's', code: 'session-expired' });
    hub.signal({ type: 'contacts-changed', userIds: ['aino', 'eero'] });
    hub.signal({ type: 'members-removed', groupId: 'g', userIds: ['eero', 'somebody else'] });
    for (const stop of stops) stop();
    hub.signal({ type: 'contacts-changed', userIds: ['aino', 'eero'] });
    expect(heard).toEqual([
      's session-ended',
      'aino contacts-changed',
      'eero contacts-changed',
      'eero members-removed',
    ]);
  });
});
