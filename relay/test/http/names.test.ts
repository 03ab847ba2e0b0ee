import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signedName } from '../devices.ts';
import { base64Url, logIn, onAnotherDevice, type PersonOnDevice } from '../helpers.ts';
import { eero as contact, aino as owner, relay, stranger, withTwoPeople } from './twoPeople.ts';

withTwoPeople();

const keep = (person: PersonOnDevice, signed: string) =>
  person.call('PUT', '/users/me/name', { signed_name: signed });
const namesFor = async (person: PersonOnDevice, ...people: readonly { id: string }[]) =>
  (await person.call('POST', '/users/names', { user_ids: people.map(({ id }) => id) })).body;
const forbidden = { status: 403, body: { code: 'forbidden' } };

describe('a signed name', () => {
  it('is given to who may see the devices of its owner, and to nobody else', async () => {
    const signed = signedName(owner, owner.username);
    expect((await keep(owner, signed)).status).toBe(204);
    for (const person of [owner, contact]) {
      expect(await namesFor(person, owner, contact, owner)).toEqual([
        { user_id: owner.id, signed_name: signed },
      ]);
    }
    expect(await namesFor(stranger, owner, stranger, { id: randomUUID() })).toEqual([]);
  });

  it("is taken of the session's device alone, and as the name that the person has", async () => {
    const other = await onAnotherDevice(relay, owner);
    const attempts = [
      base64Url(120),
      signedName(owner, contact.username),
      signedName(other, owner.username),
      signedName({ ...owner, deviceId: other.deviceId }, owner.username),
      signedName(contact, owner.username),
      `${signedName(owner, owner.username)}AAAA`,
    ];
    for (const signed of attempts) expect(await keep(owner, signed)).toMatchObject(forbidden);
    expect(await namesFor(owner, owner)).toEqual([]);
  });

  it('comes with a new username, or goes', async () => {
    const rename = (username: string, signed?: string) =>
      owner.call('PUT', '/users/me', {
        username,
        email: owner.email,
        ...(signed === undefined ? {} : { signed_name: signed }),
      });
    const [first, second, third] = ['uusi', 'uudempi', 'uusin'].map(
      (name) => name + randomUUID().slice(0, 8),
    );
    await keep(owner, signedName(owner, owner.username));
    expect(await rename(first!, signedName(owner, owner.username))).toMatchObject(forbidden);
    expect((await owner.call<{ username: string }>('GET', '/profile')).body.username).toBe(owner.username);
    const signed = signedName(owner, second!, 2);
    expect((await rename(second!, signed)).status).toBe(200);
    expect(await namesFor(contact, owner)).toEqual([{ user_id: owner.id, signed_name: signed }]);
    // The email alone leaves it.
    expect((await rename(second!)).status).toBe(200);
    expect(await namesFor(contact, owner)).toEqual([{ user_id: owner.id, signed_name: signed }]);
    expect((await rename(third!)).status).toBe(200);
    expect(await namesFor(contact, owner)).toEqual([]);
  });

  it('is never older than what another device of the person has had kept', async () => {
    const phone = await onAnotherDevice(relay, owner);
    const named = signedName(phone, owner.username, 5);
    expect((await keep(phone, named)).status).toBe(204);
    const stale = { status: 409, body: { code: 'stale-version', version: 5 } };
    expect(await keep(owner, signedName(owner, owner.username, 4))).toMatchObject(stale);
    const username = `uusi${randomUUID().slice(0, 8)}`;
    const signed_name = signedName(owner, username, 4);
    const renamed = await owner.call('PUT', '/users/me', { username, email: owner.email, signed_name });
    expect(renamed).toMatchObject(stale);
    expect(await namesFor(contact, owner)).toEqual([{ user_id: owner.id, signed_name: named }]);
    const same = signedName(owner, owner.username, 5);
    expect((await keep(owner, same)).status).toBe(204);
    expect(await namesFor(contact, owner)).toEqual([{ user_id: owner.id, signed_name: same }]);
  });

  it('may be older than that of a device that the person has no more', async () => {
    const phone = await onAnotherDevice(relay, owner);
    expect((await keep(phone, signedName(phone, owner.username, 40))).status).toBe(204);
    await relay.relay.database.db.deleteFrom('devices').where('id', '=', phone.deviceId).execute();
    expect((await keep(owner, signedName(owner, owner.username, 1))).status).toBe(204);
  });

  it('takes a device, which a session of the relay alone has not', async () => {
    const fresh = await logIn(relay, owner);
    const signed_name = signedName(owner, owner.username);
    expect(await fresh.call('PUT', '/users/me/name', { signed_name })).toMatchObject({
      body: { code: 'device-required' },
    });
  });
});
