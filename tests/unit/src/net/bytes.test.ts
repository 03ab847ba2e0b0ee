import { expect, it } from 'vitest';
import { createApi } from '#src/net/api.ts';
import { createHttp } from '#src/net/http.ts';
import { capturedLog } from './support/capturedLog.ts';
import { FakeClock } from './support/fakeClock.ts';

const conversationId = 'group:0f8fad5b-d9cb-469f-a165-70867728950e';
const treeHash = 'BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc';
const bytes = Uint8Array.of(0, 255, 128, 10, 13, 0);

/** The client before a relay that answers so, with what it was sent. */
function before(answer: Response) {
  const seen: { url: string; type: string | null; body: Uint8Array }[] = [];
  const http = createHttp({
    host: 'https://relay.example',
    token: () => 'header.payload.signature',
    onUnauthenticated: () => undefined,
    clock: new FakeClock(),
    log: capturedLog().log,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const { headers, url } = request;
      const body = new Uint8Array(await request.clone().arrayBuffer());
      seen.push({ url, type: headers.get('content-type'), body });
      return answer;
    },
  });
  return { api: createApi(http), seen };
}

it('bytes are sent as they are', async () => {
  const { api, seen } = before(new Response(null, { status: 204 }));
  await api.putTreeNodes(conversationId, bytes);
  const url = `https://relay.example/api/conversations/${encodeURIComponent(conversationId)}/tree-nodes`;
  expect(seen).toEqual([{ url, type: 'application/octet-stream', body: bytes }]);
});

it('bytes are answered as they came, and no text is made of them', async () => {
  const { api, seen } = before(new Response(bytes));
  await expect(api.getTree(conversationId, treeHash)).resolves.toEqual(bytes);
  expect(seen[0]?.url).toContain(`/trees/${treeHash}`);
});

it('a refusal in the place of bytes is read as any other', async () => {
  const body = JSON.stringify({ detail: 'There is no such tree.', code: 'not-found' });
  const { api } = before(new Response(body, { status: 404 }));
  await expect(api.getTree(conversationId, treeHash)).rejects.toMatchObject({
    code: 'not-found',
    status: 404,
  });
});
