import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { Bytes, ErrorBody, errorStatus, mediaTypeOf, partsType, type Route } from '../../contract/index.ts';
import { servedRoutes as routes, servedErrorStatus } from '../../contract/served.ts';
import type { OpenApiDocument } from '../../src/openapi/document.ts';
import { errorsOf } from '../../src/openapi/document.ts';
import { errorDetails } from '../../src/openapi/errorDetails.ts';
import type { Operation } from '../../src/openapi/operation.ts';
import { examples } from '../../src/openapi/sections.ts';
import { startTestRelay, type TestRelay } from '../helpers.ts';

let relay: TestRelay;
let document: OpenApiDocument;
let page: string;
beforeAll(async () => {
  relay = await startTestRelay();
  const response = await fetch(`${relay.url}/api/openapi.json`);
  document = (await response.json()) as OpenApiDocument;
  page = await (await fetch(`${relay.url}/api/docs`)).text();
});
afterAll(() => relay.close());

const everyCall = (Object.entries(routes) as [keyof typeof routes, Route][]).flatMap(([name, route]) =>
  route.paths.map((path, index) => ({ name, route, path, method: route.method.toLowerCase(), index })),
);
/** Calls of bytes, which the contract describes by headers (contract/blobs.ts). */
const callsOfFiles = [
  'post /blobs',
  ...['head', 'get', 'patch', 'delete'].map((method) => `${method} /blobs/{id}`),
];
const operationAt = (path: string, method: string): Operation => {
  const operation = document.paths[path]?.[method];
  if (operation === undefined) throw new Error(`${method} ${path} is not in the document`);
  return operation;
};

/** The routes of the running relay below /api, from Fastify's own list. */
function registeredRoutes(): Set<string> {
  const found = new Set<string>();
  const parents: string[] = [];
  for (const line of relay.relay.app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent, segment, methods] = /^([│ ]*)[├└]── (\S*)(?: \(([A-Z, ]+)\))?$/u.exec(line) ?? [];
    if (indent === undefined || segment === undefined) continue;
    const depth = indent.length / 4;
    parents.splice(depth, Number.POSITIVE_INFINITY, segment);
    const url = parents.join('');
    for (const method of methods?.split(', ') ?? []) {
      if (method !== 'HEAD' && url.startsWith('/api/')) found.add(`${method} ${url.slice('/api'.length)}`);
    }
  }
  return found;
}

describe('the OpenAPI document', () => {
  it('is OpenAPI 3.1, for everybody', async () => {
    const response = await fetch(`${relay.url}/api/openapi.json`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(document.openapi).toBe('3.1.1');
    expect(document.servers).toEqual([{ url: '/api' }]);
  });

  it('has every call of the contract under every one of its paths, and no other', () => {
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(documented.toSorted()).toEqual(
      [...everyCall.map(({ path, method }) => `${method} ${path}`), ...callsOfFiles].toSorted(),
    );
  });

  it('has what the relay serves, and the relay serves what it has', () => {
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    );
    const documentation = ['GET /openapi.json', 'GET /docs', 'GET /docs.css'];
    const served = registeredRoutes();
    // Every address also refuses the methods that it doesn't take.
    for (const url of new Set(documented.map((call) => call.split(' ')[1]))) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const call = `${method} ${url}`;
        expect([call, served.delete(call)]).toEqual([call, true]);
      }
    }
    expect([...served].filter((call) => !call.startsWith('OPTIONS ')).toSorted()).toEqual(
      documentation.toSorted(),
    );
  });

  it('calls every operation by a name of its own', () => {
    const names = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(names).size).toBe(names.length);
    for (const { name, path, method, index } of everyCall.filter((call) => call.index === 0)) {
      expect([operationAt(path, method).operationId, index]).toEqual([name, 0]);
    }
  });

  it('refers to nothing that is not in it', () => {
    const references = JSON.stringify(document).match(/"\$ref":"[^"]+"/g) ?? [];
    expect(references.length).toBeGreaterThan(100);
    for (const reference of new Set(references)) {
      const name = /"#\/components\/schemas\/(\w+)"$/.exec(reference)?.[1];
      expect([reference, Object.keys(document.components.schemas)]).toEqual([
        reference,
        expect.arrayContaining([name]),
      ]);
    }
  });

  it.each(everyCall)(
    'says what it takes, answers and refuses, with examples: $method $path',
    ({ route, path, method }) => {
      const operation = operationAt(path, method);
      expect(operation.summary).toMatch(/^[A-Z].{8}/);
      expect(operation.tags).toHaveLength(1);
      expect(operation.security).toEqual(route.access === 'public' ? [] : [{ token: [] }]);

      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const parameters = operation.parameters ?? [];
      expect(parameters.filter((one) => one.in === 'path').map((one) => [one.name, one.required])).toEqual(
        inPath.map((name) => [name, true]),
      );
      const bare = parameters.filter(({ in: where, schema, example, required }) => {
        const needsExample = where === 'path' || required;
        return Object.keys(schema).length === 0 || (needsExample && example === undefined);
      });
      expect(bare).toEqual([]);

      const complete = { schema: expect.anything(), example: expect.anything() };
      const contentOf = (schema: Route['body'], parts: Route['bodyParts']) =>
        schema === undefined
          ? {}
          : { [mediaTypeOf(schema, parts)]: schema === Bytes ? { schema: {} } : complete };
      expect(operation.requestBody?.content ?? {}).toEqual(contentOf(route.body, route.bodyParts));
      expect(operation.responses[route.status]?.content ?? {}).toEqual(
        contentOf(route.response, route.responseParts),
      );

      const answered = Object.values(operation.responses).flatMap(({ content }) =>
        Object.values(
          (content?.['application/json']?.examples ?? {}) as Record<string, { value: ErrorBody }>,
        ),
      );
      expect(answered.map(({ value }) => value.code).toSorted()).toEqual(errorsOf(route).toSorted());
      for (const { value } of answered) {
        expect(ErrorBody.parse(value)).toEqual(value);
        expect(operation.responses[errorStatus[value.code]]?.description).toContain(`\`${value.code}\``);
      }
    },
  );

  it.each(everyCall)('says whether it takes a proof: $method $path', ({ route, path, method }) => {
    const { description, parameters = [] } = operationAt(path, method);
    const { proof } = route;
    const headers = parameters.filter((one) => one.in === 'header' && one.name !== 'if-none-match');
    const said = headers.map((one) => [one.name, one.required]);
    expect(said).toEqual(proof === undefined ? [] : [['x-proof', proof.unless === undefined]]);
    expect(description.includes('With a proof by the password')).toBe(proof !== undefined);
    expect(description).toContain(proof?.unless ?? '');
  });

  it('holds errors to the calls that can answer them', () => {
    const own = (name: keyof typeof routes) => errorsOf(routes[name]);
    expect(own('login')).toContain('wrong-credentials');
    expect(own('login')).not.toContain('unauthenticated');
    expect(own('sendUserMessage')).toEqual(expect.arrayContaining(['device-required', 'payload-too-large']));
    expect(own('getVault')).not.toContain('forbidden');
    expect(own('listContacts')).toContain('forbidden');
    expect(own('listContacts')).not.toContain('invalid-request');
  });
});

describe('the examples of the calls', () => {
  const parts = (Object.entries(routes) as [keyof typeof routes, Route][]).flatMap(([name, route]) =>
    (['params', 'query', 'body', 'response'] as const)
      .filter((part) => route[part] !== undefined)
      .map((part) => ({ name, part, schema: route[part] ?? z.never() })),
  );

  it.each(parts)('are what the schemas take: $name $part', ({ name, part, schema }) => {
    const example = (examples[name] as Partial<Record<typeof part, unknown>>)[part];
    expect(example).toBeDefined();
    expect(schema.safeParse(example)).toMatchObject({ success: true });
  });

  it('explain every error code', () => {
    const codes = Object.keys(errorDetails) as (keyof typeof servedErrorStatus)[];
    expect(codes.toSorted()).toEqual(Object.keys(servedErrorStatus).sort());
  });
});

describe('the page of the calls', () => {
  it('is HTML under a policy that lets nothing run', async () => {
    const response = await fetch(`${relay.url}/api/docs`);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    );
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).not.toMatch(/<script|<style|\sstyle=|\son\w+=|javascript:|https?:/i);
    const stylesheet = await fetch(`${relay.url}/api/docs.css`);
    expect(stylesheet.headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(await stylesheet.text()).toContain('color-scheme');
  });

  it.each(everyCall)('has $method $path', ({ route, path, method }) => {
    expect(page).toContain(`<h3><code>${method.toUpperCase()} ${path}</code></h3>`);
    expect(page).toContain(operationAt(path, method).operationId);
    for (const code of route.errors) expect(page).toContain(`<code>${code}</code>`);
  });

  it('says where a call takes or gives bytes', () => {
    const call = (name: string) => page.split(`<article id="${name}">`)[1]?.split('</article>')[0];
    expect(call('putTreeNodes')).toContain('<h4>Request</h4><p>Bytes, as <code>application/octet-stream');
    expect(call('getTree')).toContain('<h4>200 Success</h4><p>Bytes, as <code>application/octet-stream');
  });

  it('says where byte strings of a call are bytes', () => {
    const call = (name: string) => page.split(`<article id="${name}">`)[1]?.split('</article>')[0];
    expect(call('submitCommit')).toContain(`<h4>Request, as ${partsType}</h4>`);
    expect(call('listWelcomes')).toContain(`<h4>200 Success, as ${partsType}</h4>`);
    expect(call('sendUserMessage')).not.toContain(partsType);
    expect(page).toContain(
      `a body is ${partsType}: the JSON, with numbers from 0 in the place of byte strings`,
    );
  });

  it('escapes what it shows', () => {
    expect(page).toContain('&quot;access_token&quot;');
    expect(page).not.toContain('"access_token"');
  });
});
