import { expect, it } from 'vitest';
import { routeAt, textOf } from '#relay/test/parts.ts';
import { type Api, createApi } from '#src/net/api.ts';
import { createHttp } from '#src/net/http.ts';
import { capturedLog } from './support/capturedLog.ts';
import { FakeClock } from './support/fakeClock.ts';

const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
const authKey = 'A'.repeat(43);
const commit = {
  messageId: id,
  epoch: 1,
  commit: 'AAAA',
  welcomes: [],
  groupInfo: 'AAAA',
  signature: 'A'.repeat(86),
};
const ending = { nonce: 'A'.repeat(43), signature: 'A'.repeat(86) };
const consent = { privacyConsent: true as const, consentTimestamp: '2026-03-01T12:00:00.000Z' };
const signUp = {
  username: 'anna',
  email: 'anna@example.org',
  password: authKey,
  full_name: 'anna',
  consent,
};
const passwordParams = { salt: 'A'.repeat(22), opsLimit: 3, memLimit: 134_217_728 };

/** Records what a call sends to a relay that has nothing at any path: all the paths that it tries. */
async function sentBy(call: (api: Api) => Promise<unknown>) {
  const seen: { method: string; path: string; type: string | null; body: unknown }[] = [];
  const api = createApi(
    createHttp({
      host: 'https://relay.example',
      token: () => 'header.payload.signature',
      onUnauthenticated: () => undefined,
      clock: new FakeClock(),
      log: capturedLog().log,
      fetch: async (input, init) => {
        const request = new Request(input, init);
        const { pathname, search } = new URL(request.url);
        const type = request.headers.get('content-type');
        const parts = routeAt(request.method, pathname.replace('/api', ''))?.bodyParts;
        const text = textOf(new Uint8Array(await request.clone().arrayBuffer()), type, parts);
        seen.push({
          method: request.method,
          path: pathname + search,
          type,
          body: text === '' ? null : JSON.parse(text),
        });
        return new Response(JSON.stringify({ detail: 'Nothing is here.', code: 'not-found' }), {
          status: 404,
        });
      },
    }),
  );
  await expect(call(api)).rejects.toBeInstanceOf(Error);
  return seen;
}

it.each<[string, (api: Api) => Promise<unknown>]>([
  ['PUT /api/users/me', (api) => api.updateProfile({ username: 'anna', email: 'anna@example.org' })],
  [
    'PUT /api/users/me/discoverability',
    (api) => api.putDiscoverability({ found_by: 'name', shows_email: true }),
  ],
  ['PUT /api/users/me/asked-first', (api) => api.putAskedFirst(true)],
  ['GET /api/sessions', (api) => api.listSessions()],
  [`DELETE /api/sessions/${id}`, (api) => api.endSession(id)],
  ['GET /api/storage', (api) => api.getStorage()],
  ['DELETE /api/user', (api) => api.deleteAccount(async () => 'proof')],
  ['GET /api/contacts', (api) => api.listContacts()],
  ['GET /api/contacts/requests', (api) => api.listContactRequests()],
  ['GET /api/contacts/sent-requests', (api) => api.listSentRequests()],
  ['GET /api/users/search?q=a+%26+b', (api) => api.searchUsers('a & b')],
  [`POST /api/contacts/request/${id}`, (api) => api.requestContact(id)],
  [`DELETE /api/contacts/${id}`, (api) => api.removeContact(id)],
  ['GET /api/blocks', (api) => api.listBlocks()],
  [`PUT /api/blocks/${id}`, (api) => api.setBlocked(id, true)],
  [`DELETE /api/blocks/${id}`, (api) => api.setBlocked(id, false)],
  [`GET /api/messages/user/${id}?limit=50`, (api) => api.listUserMessages(id, { limit: 50 })],
  [`GET /api/messages/group/${id}?limit=50`, (api) => api.listGroupMessages(id, { limit: 50 })],
  [
    `POST /api/messages/user/${id}`,
    (api) => api.sendUserMessage(id, { messageId: id, epoch: 1, content: 'AAAA' }),
  ],
  [
    `POST /api/messages/group/${id}`,
    (api) => api.sendGroupMessage(id, { messageId: id, epoch: 1, content: 'AAAA' }),
  ],
  [`PUT /api/messages/${id}/delivered`, (api) => api.markDelivered(id)],
  [
    `PUT /api/conversations/direct%3A${id}%3A${id}/receipt`,
    (api) =>
      api.putReceipt(`direct:${id}:${id}`, {
        epoch: 1,
        position: 2,
        sealed: 'AAAA',
        signature: 'A'.repeat(86),
      }),
  ],
  [`GET /api/conversations/direct%3A${id}%3A${id}/receipts`, (api) => api.listReceipts(`direct:${id}:${id}`)],
  ['GET /api/notifications', (api) => api.listNotifications()],
  [`POST /api/notifications/read/${id}`, (api) => api.readNotification(id)],
  ['POST /api/notifications/read-all', (api) => api.readAllNotifications()],
  [`DELETE /api/notifications/${id}`, (api) => api.deleteNotification(id)],
  ['GET /api/groups', (api) => api.listGroups()],
  [`GET /api/group/${id}`, (api) => api.getGroup(id)],
  ['POST /api/group', (api) => api.createGroup({ groupId: id, sealedName: 'AAAA' })],
  [`POST /api/group/${id}/add`, (api) => api.addGroupMembers(id, { ...commit, user_id: id })],
  [`DELETE /api/group/${id}`, (api) => api.deleteGroup(id, ending)],
  [`DELETE /api/group/${id}/leave`, (api) => api.leaveGroup(id, ending)],
  ['GET /api/group-invitations', (api) => api.listGroupInvitations()],
  [`POST /api/group/${id}/invitations`, (api) => api.inviteGroupMembers(id, [id])],
  [`DELETE /api/group/${id}/invitations`, (api) => api.withdrawGroupInvitation(id, id)],
  [`PUT /api/group-invitations/${id}`, (api) => api.answerGroupInvitation(id, true)],
  [`DELETE /api/group-invitations/${id}`, (api) => api.answerGroupInvitation(id, false)],
  [`GET /api/group/${id}/departure`, (api) => api.getLeaveStatement(id)],
])('%s is one call of the client', async (line, call) => {
  const seen = await sentBy(call);
  expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([line]);
});

it.each<[string, (api: Api) => Promise<unknown>, readonly string[]]>([
  [
    'signing up',
    (api) => api.register({ ...signUp, passwordParams }),
    ['POST /api/register', 'POST /api/signup', 'POST /api/auth/register', 'POST /api/auth/signup'],
  ],
  [
    'logging in',
    (api) => api.login({ email: 'anna', password: authKey }),
    ['POST /api/login/email', 'POST /api/login', 'POST /api/auth/login'],
  ],
  ['the profile', (api) => api.profile(), ['GET /api/profile', 'GET /api/profile']],
  [
    'accepting',
    (api) => api.acceptContact(id),
    [`POST /api/contacts/accept/${id}`, `POST /api/contact/accept/${id}`],
  ],
  [
    'declining',
    (api) => api.rejectContact(id),
    [`POST /api/contacts/reject/${id}`, `POST /api/contact/deny/${id}`],
  ],
])('%s tries its paths in turn', async (_what, call, lines) => {
  const seen = await sentBy(call);
  expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual(lines);
});

it('bodies are JSON with the fields of the specification', async () => {
  const [registered] = await sentBy((api) => api.register({ ...signUp, passwordParams }));
  expect(registered).toMatchObject({ type: 'application/json', body: signUp });
  const [loggedIn] = await sentBy((api) => api.login({ email: 'anna', password: authKey }));
  expect(loggedIn?.body).toEqual({ email: 'anna', password: authKey });
  const [changed] = await sentBy((api) => api.updateProfile({ username: 'anna', email: 'a@example.org' }));
  expect(changed?.body).toEqual({ username: 'anna', email: 'a@example.org' });
  const [added] = await sentBy((api) => api.addGroupMembers(id, { ...commit, user_id: id }));
  expect(added?.body).toMatchObject({ user_id: id });
  const [deleted] = await sentBy((api) => api.deleteAccount(async () => 'proof'));
  expect(deleted?.body).toBeNull();
});
