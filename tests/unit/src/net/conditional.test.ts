import { describe, expect, it } from 'vitest';
import { failureOf, json, setUp, tagged, userId } from './support/httpApi.ts';

const contacts = [{ id: userId, username: 'anna', email: 'anna@example.org' }];

describe('an answer with an entity tag', () => {
  it('is the answer again while the relay says that it is still the present one', async () => {
    const { api, seen } = setUp(tagged('"one"', contacts), tagged('"one"'), tagged('"one"'));
    const first = await api.listContacts();
    expect(first).toEqual(contacts);
    expect(await api.listContacts()).toBe(first);
    expect(await api.listContacts()).toBe(first);
    expect(seen.map(({ ifNoneMatch }) => ifNoneMatch)).toEqual([undefined, '"one"', '"one"']);
  });

  it('gives way to another one', async () => {
    const { api, seen } = setUp(tagged('"one"', contacts), tagged('"two"', []), tagged('"two"'));
    await api.listContacts();
    expect(await api.listContacts()).toEqual([]);
    expect(await api.listContacts()).toEqual([]);
    expect(seen.map(({ ifNoneMatch }) => ifNoneMatch)).toEqual([undefined, '"one"', '"two"']);
  });

  it('is of its own list alone', async () => {
    const { api, seen } = setUp(tagged('"one"', contacts), tagged('"one"', []));
    await api.listContacts();
    expect(await api.listContactRequests()).toEqual([]);
    expect(seen.map(({ ifNoneMatch }) => ifNoneMatch)).toEqual([undefined, undefined]);
  });

  it('is not given to another session', async () => {
    const { api, seen, setToken } = setUp(tagged('"one"', contacts), tagged('"one"', []));
    await api.listContacts();
    setToken('another.session.token');
    expect(await api.listContacts()).toEqual([]);
    expect(seen.map(({ ifNoneMatch }) => ifNoneMatch)).toEqual([undefined, undefined]);
  });

  it('is forgotten as somebody signs out or in', async () => {
    const signedOut = new Response(null, { status: 204 });
    const params = json(200, { salt: 'A'.repeat(22), opsLimit: 3, memLimit: 134_217_728 });
    const contactsAgain = () => tagged('"one"', contacts);
    const { api, seen } = setUp(contactsAgain(), signedOut, contactsAgain(), params, contactsAgain());
    await api.listContacts();
    await api.logout('header.payload.signature');
    await api.listContacts();
    await api.authParams('anna');
    await api.listContacts();
    expect(seen.map(({ ifNoneMatch }) => ifNoneMatch)).toEqual(Array(5).fill(undefined));
  });

  it('that breaks the schema is no answer, and is not asked for again by its tag', async () => {
    const { api, seen } = setUp(tagged('"one"', { not: 'a list' }), tagged('"one"', contacts));
    expect(await failureOf(api.listContacts())).toMatchObject({ code: 'invalid-response' });
    expect(await api.listContacts()).toEqual(contacts);
    expect(seen.map(({ ifNoneMatch }) => ifNoneMatch)).toEqual([undefined, undefined]);
  });

  it('is not taken from a relay that says 304 unasked', async () => {
    const { api } = setUp(tagged('"one"'));
    expect(await failureOf(api.listContacts())).toMatchObject({ status: 304 });
  });
});
