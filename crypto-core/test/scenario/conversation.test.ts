import { beforeAll, describe, expect, it } from 'vitest';
import { ready } from '../../src/index.ts';
import { testEnv } from '../testEnv.ts';
import { Conversation, device, SUITES } from './world.ts';

beforeAll(ready);

describe.each(SUITES)('a conversation in suite %i', (suite) => {
  it('of two: add, talk, update, talk', () => {
    const conversation = new Conversation(suite, testEnv('two'));
    conversation.add(conversation.at(0), [device('device 1', conversation.env)]);
    conversation.expectAgreement();
    conversation.update(conversation.at(1));
    conversation.expectAgreement();
    conversation.update(conversation.at(0));
    conversation.expectAgreement();
    expect(conversation.at(0).group.context.epoch).toBe(3n);
  });
});
